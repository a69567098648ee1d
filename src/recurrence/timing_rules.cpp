// SPDX-License-Identifier: MIT

#include "recurrence/timing_rules.h"

#include <fmt/format.h>

#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

std::string_view unit_name(Frequency frequency) {
  switch (frequency) {
    case Frequency::minute:
      return "Minute";
    case Frequency::hour:
      return "Hour";
    case Frequency::day:
      return "Day";
    case Frequency::week:
      return "Week";
    case Frequency::month:
      return "Month";
    case Frequency::year:
      return "Year";
  }
  return "";
}

// A part of a schedule, the frequencies it goes with, and how the live service called it.
struct Part {
  std::string_view member;
  std::string_view name;
  bool given;
  bool allowed;
  std::string_view goes_with;
};

void check_parts(const Recurrence& recurrence, std::vector<Error>& errors) {
  const Schedule& schedule = recurrence.schedule;
  const Frequency frequency = recurrence.frequency;
  const bool monthly = frequency == Frequency::month || frequency == Frequency::year;
  const bool has_hours = frequency != Frequency::minute;
  const Part parts[] = {
      {"minutes", "minutes", !schedule.minutes.empty(), has_hours, "Hour, Day, Week, Month, Year"},
      {"hours", "hours", !schedule.hours.empty(), has_hours, "Hour, Day, Week, Month, Year"},
      {"weekDays", "days of week", !schedule.week_days.empty(), frequency == Frequency::week,
       "Week"},
      {"monthDays", "days of month", schedule.names_month_days(), monthly, "Month, Year"},
      {"monthlyOccurrences", "monthly occurrences", !schedule.monthly_occurrences.empty(), monthly,
       "Month, Year"},
      {"months", "months", !schedule.months.empty(), monthly, "Month, Year"},
  };
  for (const Part& part : parts) {
    if (!part.given || part.allowed) continue;
    errors.push_back({ErrorCode::invalid,
                      fmt::format("Cannot set {} with recurrence unit '{}'. {} goes with {}.",
                                  part.name, unit_name(frequency), part.member, part.goes_with),
                      fmt::format("recurrence.schedule.{}", part.member)});
  }
}

std::string_view why_it_never_fires(const Recurrence& recurrence) {
  if (recurrence.frequency == Frequency::hour) {
    return "counted from startTime, every interval-th hour misses all of the hours it names.";
  }
  return "no month that interval and months allow has a day that monthDays and "
         "monthlyOccurrences name.";
}

// The recurrence by itself, without count and end: does its calendar name any instant?
bool fires_at_all(const Recurrence& recurrence, Instant anchor) {
  Recurrence endless = recurrence;
  endless.count.reset();
  endless.end_time.reset();
  return next_occurrence(endless, anchor, 0, anchor - kOneTick).has_value();
}

Error would_never_run(const Recurrence& recurrence, Instant now) {
  if (!recurrence.end_time) {
    return {ErrorCode::invalid,
            fmt::format("The job would never run: its last occurrence lies before now, {}.",
                        format_instant(now)),
            "recurrence"};
  }
  return {ErrorCode::invalid,
          fmt::format("The job would never run: no occurrence lies between now, {}, and endTime, "
                      "{}.",
                      format_instant(now), format_instant(*recurrence.end_time)),
          "recurrence.endTime"};
}

void check_that_it_fires(const Timing& timing, Instant now, std::vector<Error>& errors) {
  const Recurrence& recurrence = *timing.recurrence;
  if (fires_at_all(recurrence, anchor_of(timing, now))) return;
  errors.push_back({ErrorCode::invalid,
                    fmt::format("The schedule never fires: {}", why_it_never_fires(recurrence)),
                    "recurrence.schedule"});
}

}  // namespace

std::vector<Error> broken_timing_rules(const Timing& timing, Instant now) {
  std::vector<Error> errors;
  if (!timing.recurrence) return errors;
  check_parts(*timing.recurrence, errors);
  const auto& end_time = timing.recurrence->end_time;
  if (end_time && *end_time <= now) {
    errors.push_back({ErrorCode::invalid,
                      fmt::format("endTime must lie in the future; it is {}, and now is {}.",
                                  format_instant(*end_time), format_instant(now)),
                      "recurrence.endTime"});
  }
  if (errors.empty()) check_that_it_fires(timing, now, errors);
  return errors;
}

std::optional<Error> nothing_ahead(const Timing& timing, Instant now,
                                   std::optional<Instant> recurs_since) {
  const bool goes_on = recurs_since && timing.recurrence && !timing.start_time;
  const auto next = goes_on ? next_occurrence(*timing.recurrence, *recurs_since, 0, now)
                            : first_occurrence(timing, now);
  if (next) return std::nullopt;
  return would_never_run(*timing.recurrence, now);
}

}  // namespace belfry
