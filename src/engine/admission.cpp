// SPDX-License-Identifier: MIT

#include "engine/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace belfry {
namespace {

Status admit_action(const Action& action, std::string_view path, const Plan& plan) {
  const auto* http = std::get_if<HttpAction>(&action.what);
  if (!plan.authentication && http != nullptr && http->authentication) {
    return Error{ErrorCode::invalid,
                 "Outbound authentication is not available in Free job collections.",
                 fmt::format("{}.request.authentication", path)};
  }
  const auto& policy = action.retry_policy;
  if (policy && policy->interval && *policy->interval < plan.retry_interval_min) {
    const auto least = std::chrono::duration_cast<std::chrono::minutes>(plan.retry_interval_min);
    return Error{ErrorCode::invalid,
                 fmt::format("retryInterval must be at least {} minutes in this job collection.",
                             least.count()),
                 fmt::format("{}.retryPolicy.retryInterval", path)};
  }
  return Done{};
}

// The shortest step from one member to the next, going round after `cycle`; the cycle itself
// for a single member.
int shortest_step(SmallSet set, int cycle) {
  int shortest = cycle;
  const int first = set.first_from(0).value_or(0);
  int last = first;
  for (auto next = set.first_from(first + 1); next; next = set.first_from(*next + 1)) {
    shortest = std::min(shortest, *next - last);
    last = *next;
  }
  return std::min(shortest, first + cycle - last);
}

// The shortest time between two of a day's times; none when a day has one time only.
std::optional<Ticks> shortest_gap_of_times(const Recurrence& recurrence) {
  using std::chrono::hours;
  using std::chrono::minutes;
  const Schedule& schedule = recurrence.schedule;
  if (schedule.minutes.size() > 1) return minutes{shortest_step(schedule.minutes, 60)};
  if (recurrence.frequency == Frequency::hour) return std::nullopt;
  if (!schedule.minutes.empty() && schedule.hours.empty()) return hours{1};
  if (schedule.hours.size() > 1) return hours{shortest_step(schedule.hours, 24)};
  return std::nullopt;
}

// The shortest time between two of the days that the schedule names; none when that is the
// period's to say.
std::optional<Ticks> shortest_gap_of_days(const Schedule& schedule) {
  using std::chrono::days;
  constexpr int kShortestMonth = 28;
  if (schedule.week_days.size() > 1) return days{shortest_step(schedule.week_days, 7)};
  const auto& occurrences = schedule.monthly_occurrences;
  const int others = schedule.month_days_from_end.size() + static_cast<int>(occurrences.size());
  if (others == 0 && schedule.month_days.size() > 1) {
    return days{std::max(1, shortest_step(schedule.month_days, kShortestMonth))};
  }
  // The last day and the first Friday may be neighbours, in some month.
  if (schedule.month_days.size() + others > 1) return days{1};
  if (!occurrences.empty() && occurrences[0].n == MonthlyOccurrence::kEvery) return days{7};
  if (schedule.months.size() > 1) return days{kShortestMonth};
  return std::nullopt;
}

}  // namespace

Ticks shortest_gap(const Recurrence& recurrence) {
  Ticks gap = shortest_length({recurrence.frequency, recurrence.interval});
  if (const auto days = shortest_gap_of_days(recurrence.schedule)) gap = std::min(gap, *days);
  if (const auto times = shortest_gap_of_times(recurrence)) gap = std::min(gap, *times);
  return gap;
}

Status admit(const JobDefinition& definition, const JobCollection& collection, const Plan& plan) {
  if (auto admitted = admit_action(definition.action, "properties.action", plan); !admitted) {
    return admitted;
  }
  if (definition.error_action) {
    auto admitted = admit_action(*definition.error_action, "properties.action.errorAction", plan);
    if (!admitted) return admitted;
  }
  const auto& recurrence = definition.timing.recurrence;
  const Ticks allowed = shortest_length(collection.quota.max_recurrence);
  if (recurrence && shortest_gap(*recurrence) < allowed) {
    const auto minutes = [](Ticks ticks) {
      return std::chrono::duration_cast<std::chrono::minutes>(ticks).count();
    };
    return Error{
        ErrorCode::conflict,
        fmt::format("The job recurs every {} minutes at its shortest; the quota of job "
                    "collection '{}' allows every {} minutes at most (maxRecurrence).",
                    minutes(shortest_gap(*recurrence)), collection.key.name, minutes(allowed)),
        "properties.recurrence"};
  }
  return Done{};
}

}  // namespace belfry
