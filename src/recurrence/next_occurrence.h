// SPDX-License-Identifier: MIT
//
// next_occurrence() answers "when next?" by the calendar. It is pure: no clock, no state, the
// same answer for the same values, from any thread.
//
// The rules, for a recurrence whose anchor is its startTime (or, without one, the instant of
// its first run):
// - Without a schedule the occurrences are anchor + k × interval × unit. Months and years are
//   counted from the anchor itself and clamped to the length of the month, so that what began
//   on the 31st comes back to the 31st.
// - With a schedule they are the instants that it names, from the anchor on, in every
//   interval-th hour, day, week (from Sunday), month or year counted from the one that holds
//   the anchor. Days that do not exist are passed over, never moved.
// - What a schedule leaves open is taken from the anchor: minutes without hours means every
//   hour; hours without minutes, the anchor's minute and second; neither, its time of day;
//   no day, its weekday or day of the month; no month in a year, its month.
// - monthDays and monthlyOccurrences together mean the days that both name.
//
// Holds: the answer is later than `after`, not before `anchor`, not after end_time, and no
// occurrence lies between `after` and it. The search is bounded (kMonthsSearched).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/recurrence.h"

namespace belfry {

// The calendar repeats after 400 years, which is 4,800 months and a whole number of weeks.
// A day that none of so many candidate months has, no month has.
inline constexpr int kMonthsSearched = 4800;

// The first occurrence after `after`; none when the recurrence has ended. `ran` is how many
// occurrences count towards recurrence.count already.
std::optional<Instant> next_occurrence(const Recurrence& recurrence, Instant anchor,
                                       std::int64_t ran, Instant after);

// When a job that is defined at `now` first runs. Without a startTime, or with one that has
// passed and no recurrence, that is at once: at `now` itself. Occurrences that lie at or
// before `now` are not owed.
std::optional<Instant> first_occurrence(const Timing& timing, Instant now);

// The first `limit` occurrences of a job that is defined at `now`.
std::vector<Instant> first_occurrences(const Timing& timing, Instant now, std::size_t limit);

// What later occurrences are counted from, for a job that was defined at `defined_at`.
inline Instant anchor_of(const Timing& timing, Instant defined_at) {
  return timing.start_time.value_or(defined_at);
}

}  // namespace belfry
