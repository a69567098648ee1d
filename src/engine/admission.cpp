// SPDX-License-Identifier: MIT

#include "engine/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

std::string in_words(Ticks ticks) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ticks).count();
  return seconds % 60 == 0 ? fmt::format("{} minutes", seconds / 60)
                           : fmt::format("{} seconds", seconds);
}

Status admit_action(const Action& action, std::string_view path, const Plan& plan) {
  const auto* http = std::get_if<HttpAction>(&action.what);
  if (!plan.authentication && http != nullptr && http->authentication) {
    return Error{ErrorCode::invalid,
                 "Outbound authentication is not available in Free job collections.",
                 fmt::format("{}.request.authentication", path)};
  }
  const auto& policy = action.retry_policy;
  if (policy && policy->interval && *policy->interval < plan.retry_interval_min) {
    return Error{ErrorCode::invalid,
                 fmt::format("retryInterval must be at least {} in this job collection.",
                             in_words(plan.retry_interval_min)),
                 fmt::format("{}.retryPolicy.retryInterval", path)};
  }
  return Done{};
}

// Times that come again in the same order in every hour or day.
struct Rhythm {
  std::optional<Ticks> step;  // the shortest from one to the next; none when there is one time
  Ticks span{};               // from the first to the last
};

Rhythm rhythm_of(SmallSet set, Ticks unit) {
  Rhythm rhythm;
  auto last = set.first_from(0);
  while (last) {
    const auto next = set.first_from(*last + 1);
    if (!next) break;
    const Ticks step = (*next - *last) * unit;
    rhythm.step = std::min(rhythm.step.value_or(step), step);
    rhythm.span += step;
    last = next;
  }
  return rhythm;
}

// `inner` comes in every beat of `outer`.
Rhythm combined(const Rhythm& inner, const Rhythm& outer) {
  Rhythm both{inner.step, outer.span + inner.span};
  if (outer.step) {
    const Ticks across = *outer.step - inner.span;
    both.step = std::min(both.step.value_or(across), across);
  }
  return both;
}

Rhythm rhythm_of_hour(const Schedule& schedule) {
  return rhythm_of(schedule.minutes, std::chrono::minutes{1});
}

Rhythm rhythm_of_day(const Schedule& schedule) {
  const bool every_hour = schedule.hours.empty() && !schedule.minutes.empty();
  const SmallSet hours = every_hour ? SmallSet::range(0, 23) : schedule.hours;
  return combined(rhythm_of_hour(schedule), rhythm_of(hours, std::chrono::hours{1}));
}

// Found by going through them: so many, and so far, that every shape of a month was there.
Ticks shortest_step_of_calendar(const Recurrence& recurrence) {
  constexpr int kOccurrencesWalked = 500;
  constexpr Instant kSunday{std::chrono::sys_days{std::chrono::year{2023} / 1 / 1}};
  constexpr Ticks kTimeWalked = std::chrono::days{40 * 366};
  Ticks shortest = kLastInstant - kSunday;
  Instant last = kSunday - shortest;
  for (int i = 0; i < kOccurrencesWalked; ++i) {
    const auto next = next_occurrence(recurrence, kSunday, 0, last);
    if (!next || *next > kSunday + kTimeWalked) break;
    shortest = std::min(shortest, *next - last);
    last = *next;
  }
  return shortest;
}

std::int64_t in_minutes(Ticks ticks) {
  return std::chrono::duration_cast<std::chrono::minutes>(ticks).count();
}

// How a collection can have more than its quota allows: what its plan has room for it need only ask
// for.
std::string more_jobs(const Quota& quota, const Plan& plan) {
  const int ceiling = plan.ceiling.max_job_count;
  if (quota.max_job_count >= ceiling) return std::string(more_than(plan));
  return fmt::format(
      " A PATCH of the collection's properties.quota.maxJobCount raises it, up to {}.", ceiling);
}

std::string more_often(const Quota& quota, const Plan& plan) {
  const Ticks ceiling = shortest_length(plan.ceiling.max_recurrence);
  if (shortest_length(quota.max_recurrence) <= ceiling) return std::string(more_than(plan));
  return fmt::format(
      " A PATCH of the collection's properties.quota.maxRecurrence allows more, down to every {} "
      "minutes.",
      in_minutes(ceiling));
}

}  // namespace

Ticks shortest_gap(const Recurrence& recurrence) {
  const Schedule& schedule = recurrence.schedule;
  if (schedule.empty()) return shortest_length({recurrence.frequency, recurrence.interval});
  // What happens inside an hour or a day is the same in each of them, so it is enough to look
  // at which hours or days there are.
  const bool hourly = recurrence.frequency == Frequency::hour;
  const Rhythm inside = hourly ? rhythm_of_hour(schedule) : rhythm_of_day(schedule);
  Recurrence beats;
  beats.frequency = recurrence.frequency;
  beats.interval = recurrence.interval;
  beats.schedule = schedule;
  beats.schedule.minutes = SmallSet::single(0);
  if (!hourly) beats.schedule.hours = SmallSet::single(0);
  const Ticks across = shortest_step_of_calendar(beats) - inside.span;
  return std::min(across, inside.step.value_or(across));
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
  if (!recurrence) return Done{};
  if (const Ticks gap = shortest_gap(*recurrence); gap < allowed) {
    return Error{ErrorCode::conflict,
                 fmt::format("The job recurs every {} minutes at its shortest; the quota of job "
                             "collection '{}' allows every {} minutes at most (maxRecurrence).{}",
                             in_minutes(gap), collection.key.name, in_minutes(allowed),
                             more_often(collection.quota, plan)),
                 "properties.recurrence"};
  }
  return Done{};
}

Error full(const JobCollection& collection, const Plan& plan) {
  return {ErrorCode::conflict,
          fmt::format("The job collection '{}' has reached its quota of '{}' jobs (maxJobCount).{}",
                      collection.key.name, collection.quota.max_job_count,
                      more_jobs(collection.quota, plan)),
          {}};
}

}  // namespace belfry
