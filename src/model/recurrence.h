// SPDX-License-Identifier: MIT
//
// Recurrence says how often a job runs, and Timing adds when it starts: together all that
// decides its occurrences. They are plain values; recurrence/next_occurrence.h computes with
// them, recurrence/timing_rules.h says which of them make sense.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/small_set.h"
#include "model/zone.h"

namespace belfry {

enum class Frequency { minute, hour, day, week, month, year };

// Numbered as the calendar of <chrono> does: Sunday is 0.
enum class WeekDay { sunday, monday, tuesday, wednesday, thursday, friday, saturday };

inline constexpr int kIntervalMax = 1000;
inline constexpr int kOccurrenceInMonthMax = 5;
inline constexpr int kMonthlyOccurrencesMax = 77;  // seven days, each every, ±1 to ±5
inline constexpr std::int64_t kCountMax = 2147483647;

// The n-th such weekday of a month, counted from its end where n is negative.
struct MonthlyOccurrence {
  static constexpr int kEvery = 0;

  WeekDay day = WeekDay::sunday;
  int n = kEvery;

  bool operator==(const MonthlyOccurrence&) const = default;
};

// An empty part was not given; what stands for it then is next_occurrence()'s to know.
struct Schedule {
  SmallSet minutes;              // 0 to 59
  SmallSet hours;                // 0 to 23
  SmallSet week_days;            // WeekDay
  SmallSet month_days;           // 1 to 31
  SmallSet month_days_from_end;  // 1 to 31: 1 is the last day of the month
  SmallSet months;               // 1 to 12
  std::vector<MonthlyOccurrence> monthly_occurrences;

  bool names_month_days() const { return !month_days.empty() || !month_days_from_end.empty(); }
  bool empty() const { return *this == Schedule{}; }
  bool operator==(const Schedule&) const = default;
};

struct Recurrence {
  Frequency frequency = Frequency::day;
  int interval = 1;                   // 1 to kIntervalMax
  std::optional<std::int64_t> count;  // 1 to kCountMax
  std::optional<Instant> end_time;    // an occurrence exactly then still runs
  Schedule schedule;
  Zone zone;

  bool operator==(const Recurrence&) const = default;
};

struct Timing {
  std::optional<Instant> start_time;
  std::optional<Recurrence> recurrence;  // absent: the job runs once

  bool operator==(const Timing&) const = default;
};

}  // namespace belfry
