// SPDX-License-Identifier: MIT

#include "recurrence/next_occurrence.h"

#include <algorithm>

#include "base/assert.h"
#include "recurrence/month.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::weekday;
using std::chrono::weeks;
using std::chrono::year_month_day;

constexpr int kHoursPerDay = 24;

// The first of base, base + step, base + 2 × step, … that is not before `from`.
template <typename Number>
Number align_up(Number base, Number from, Number step) {
  if (from <= base) return base;
  return base + (from - base + step - Number{1}) / step * step;
}

// The times of day that a schedule names: hours × minutes, each `offset` into its minute.
struct TimesOfDay {
  SmallSet hours;
  SmallSet minutes;
  Ticks offset;

  // The first one that is at least `from` after midnight.
  std::optional<Ticks> first_from(Ticks from) const {
    const int minute_of_day =
        from <= offset
            ? 0
            : static_cast<int>(std::chrono::ceil<std::chrono::minutes>(from - offset).count());
    const int hour = minute_of_day / 60;
    if (hour < kHoursPerDay && hours.contains(hour)) {
      if (const auto minute = minutes.first_from(minute_of_day % 60)) return at(hour, *minute);
    }
    const auto later_hour = hours.first_from(hour + 1);
    if (!later_hour) return std::nullopt;
    return at(*later_hour, *minutes.first_from(0));
  }

 private:
  Ticks at(int hour, int minute) const {
    return std::chrono::hours{hour} + std::chrono::minutes{minute} + offset;
  }
};

TimesOfDay times_of_day(const Schedule& schedule, LocalTime anchor) {
  const Ticks time = anchor - floor<days>(anchor);
  const int anchor_hour = static_cast<int>(floor<hours>(time).count());
  const int anchor_minute = static_cast<int>(floor<minutes>(time).count() % 60);
  TimesOfDay times{schedule.hours, schedule.minutes, Ticks{0}};
  if (schedule.minutes.empty()) {
    times.minutes = SmallSet::single(anchor_minute);
    times.offset = time - floor<minutes>(time);
    if (schedule.hours.empty()) times.hours = SmallSet::single(anchor_hour);
  } else if (schedule.hours.empty()) {
    times.hours = SmallSet::range(0, kHoursPerDay - 1);
  }
  return times;
}

int day_of_week(local_days day) {
  return static_cast<int>(weekday{day}.c_encoding());
}

local_days next_day_of_weeks(const Recurrence& recurrence, local_days anchor_day, local_days from) {
  const Schedule& schedule = recurrence.schedule;
  const SmallSet chosen =
      schedule.week_days.empty() ? SmallSet::single(day_of_week(anchor_day)) : schedule.week_days;
  const local_days first_week = anchor_day - days{day_of_week(anchor_day)};
  const local_days week = from - days{day_of_week(from)};
  const auto aligned = [&](local_days sunday) {
    const int index = static_cast<int>((sunday - first_week) / weeks{1});
    return first_week + weeks{align_up(0, index, recurrence.interval)};
  };
  if (aligned(week) == week) {
    if (const auto day = chosen.first_from(day_of_week(from))) return week + days{*day};
  }
  return aligned(week + weeks{1}) + days{*chosen.first_from(0)};
}

// The months a recurrence visits, in order: every interval-th month, or the chosen months of
// every interval-th year.
class MonthWalk {
 public:
  MonthWalk(const Recurrence& recurrence, Month anchor)
      : yearly_(recurrence.frequency == Frequency::year),
        interval_(recurrence.interval),
        anchor_(anchor),
        months_(recurrence.schedule.months) {
    if (yearly_ && months_.empty()) months_ = SmallSet::single(anchor.month());
  }

  // The first month of the walk that is not before `from`.
  Month first_from(Month from) const {
    if (!yearly_) return Month{align_up(anchor_.index, from.index, interval_)};
    const int year = align_up(anchor_.year(), from.year(), interval_);
    const auto month = months_.first_from(year == from.year() ? from.month() : 1);
    if (month) return Month::of(year, *month);
    return Month::of(year + interval_, *months_.first_from(1));
  }

  bool chosen(Month month) const { return months_.empty() || months_.contains(month.month()); }

 private:
  bool yearly_;
  int interval_;
  Month anchor_;
  SmallSet months_;
};

std::optional<local_days> next_day_of_months(const Recurrence& recurrence, local_days anchor_day,
                                             local_days from) {
  const year_month_day anchor{anchor_day};
  const MonthWalk walk(recurrence, Month::of(anchor));
  const Month from_month = Month::of(year_month_day{from});
  const int from_day = static_cast<int>(static_cast<unsigned>(year_month_day{from}.day()));
  const int default_day = static_cast<int>(static_cast<unsigned>(anchor.day()));

  Month month = walk.first_from(from_month);
  for (int searched = 0; searched < kMonthsSearched && month <= Month::last(); ++searched) {
    if (walk.chosen(month)) {
      const SmallSet chosen = days_of(month, recurrence.schedule, default_day);
      const auto day = chosen.first_from(month == from_month ? from_day : 1);
      if (day) return month.day(*day);
    }
    month = walk.first_from(month.next());
  }
  return std::nullopt;
}

// The first day from `from` on that has occurrences.
std::optional<local_days> next_day(const Recurrence& recurrence, local_days anchor_day,
                                   local_days from) {
  switch (recurrence.frequency) {
    case Frequency::day:
      return anchor_day +
             days{align_up<days::rep>(0, (from - anchor_day).count(), recurrence.interval)};
    case Frequency::week:
      return next_day_of_weeks(recurrence, anchor_day, from);
    case Frequency::month:
    case Frequency::year:
      return next_day_of_months(recurrence, anchor_day, from);
    case Frequency::minute:
    case Frequency::hour:
      break;
  }
  ASSERT(false && "a frequency below a day has no days to choose from");
  return std::nullopt;
}

// Every interval-th hour, as far as `hours` names it, at the chosen minutes.
std::optional<LocalTime> next_in_hours(const Recurrence& recurrence, LocalTime anchor,
                                       LocalTime from) {
  const TimesOfDay times = times_of_day(recurrence.schedule, anchor);
  const auto first_hour = floor<hours>(anchor).time_since_epoch().count();
  auto hour = align_up<hours::rep>(first_hour, floor<hours>(from).time_since_epoch().count(),
                                   recurrence.interval);
  // After 24 steps the hour of the day repeats; one more, since the first may be used up.
  for (int step = 0; step <= kHoursPerDay; ++step, hour += recurrence.interval) {
    const LocalTime begin{hours{hour}};
    const local_days day = floor<days>(begin);
    const auto time = times.first_from(std::max(from, begin) - day);
    if (time && *time < begin - day + hours{1}) return day + *time;
  }
  return std::nullopt;
}

std::optional<LocalTime> next_on_schedule(const Recurrence& recurrence, LocalTime anchor,
                                          LocalTime from) {
  if (recurrence.frequency == Frequency::minute) return std::nullopt;
  if (recurrence.frequency == Frequency::hour) return next_in_hours(recurrence, anchor, from);

  const TimesOfDay times = times_of_day(recurrence.schedule, anchor);
  const local_days anchor_day = floor<days>(anchor);
  const local_days from_day = floor<days>(from);
  auto day = next_day(recurrence, anchor_day, from_day);
  if (!day) return std::nullopt;
  if (const auto time = times.first_from(*day == from_day ? from - from_day : Ticks{0})) {
    return *day + *time;
  }
  day = next_day(recurrence, anchor_day, from_day + days{1});
  if (!day) return std::nullopt;
  return *day + *times.first_from(Ticks{0});
}

std::optional<LocalTime> next_on_month_grid(const Recurrence& recurrence, LocalTime anchor,
                                            LocalTime from) {
  const local_days anchor_day = floor<days>(anchor);
  const year_month_day anchor_date{anchor_day};
  const int step = recurrence.interval * (recurrence.frequency == Frequency::year ? 12 : 1);
  const Month from_month = Month::of(year_month_day{floor<days>(from)});
  const int day = static_cast<int>(static_cast<unsigned>(anchor_date.day()));

  Month month{align_up(Month::of(anchor_date).index, from_month.index, step)};
  for (int tries = 0; tries < 2 && month <= Month::last(); ++tries, month.index += step) {
    const LocalTime candidate = month.day(std::min(day, month.length())) + (anchor - anchor_day);
    if (candidate >= from) return candidate;
  }
  return std::nullopt;
}

Ticks unit_of(Frequency frequency) {
  switch (frequency) {
    case Frequency::minute:
      return minutes{1};
    case Frequency::hour:
      return hours{1};
    case Frequency::day:
      return days{1};
    case Frequency::week:
      return weeks{1};
    case Frequency::month:
    case Frequency::year:
      break;
  }
  ASSERT(false && "months differ in length");
  return Ticks{0};
}

std::optional<LocalTime> next_on_grid(const Recurrence& recurrence, LocalTime anchor,
                                      LocalTime from) {
  if (recurrence.frequency >= Frequency::month) {
    return next_on_month_grid(recurrence, anchor, from);
  }
  const Ticks step = unit_of(recurrence.frequency) * recurrence.interval;
  return LocalTime{Ticks{
      align_up(anchor.time_since_epoch().count(), from.time_since_epoch().count(), step.count())}};
}

}  // namespace

std::optional<Instant> next_occurrence(const Recurrence& recurrence, Instant anchor,
                                       std::int64_t ran, Instant after) {
  ASSERT(kFirstInstant <= anchor && anchor <= kLastInstant);
  ASSERT(1 <= recurrence.interval && recurrence.interval <= kIntervalMax);
  if (recurrence.count && ran >= *recurrence.count) return std::nullopt;
  if (after >= kLastInstant) return std::nullopt;

  const LocalTime local_anchor = recurrence.zone.local(anchor);
  const LocalTime from = recurrence.zone.local(std::max(anchor, after + kOneTick));
  const auto local = recurrence.schedule.empty() ? next_on_grid(recurrence, local_anchor, from)
                                                 : next_on_schedule(recurrence, local_anchor, from);
  if (!local) return std::nullopt;
  const Instant next = recurrence.zone.instant(*local);
  if (next > kLastInstant || (recurrence.end_time && next > *recurrence.end_time)) {
    return std::nullopt;
  }
  return next;
}

std::optional<Instant> first_occurrence(const Timing& timing, Instant now) {
  if (timing.recurrence && timing.start_time) {
    return next_occurrence(*timing.recurrence, *timing.start_time, 0, now);
  }
  const Instant first = timing.start_time ? std::max(*timing.start_time, now) : now;
  const bool ended =
      timing.recurrence && timing.recurrence->end_time && first > *timing.recurrence->end_time;
  if (ended) return std::nullopt;
  return first;
}

std::vector<Instant> first_occurrences(const Timing& timing, Instant now, std::size_t limit) {
  std::vector<Instant> occurrences;
  auto next = first_occurrence(timing, now);
  while (next && occurrences.size() < limit) {
    occurrences.push_back(*next);
    if (!timing.recurrence) break;
    next = next_occurrence(*timing.recurrence, anchor_of(timing, now),
                           static_cast<std::int64_t>(occurrences.size()), *next);
  }
  return occurrences;
}

}  // namespace belfry
