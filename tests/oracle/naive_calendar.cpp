// SPDX-License-Identifier: MIT

#include "tests/oracle/naive_calendar.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year_month_day;

int number(std::chrono::day day) {
  return static_cast<int>(static_cast<unsigned>(day));
}
int number(std::chrono::month month) {
  return static_cast<int>(static_cast<unsigned>(month));
}

int last_day_of_month(year_month_day date) {
  return number((date.year() / date.month() / std::chrono::last).day());
}

sys_days sunday_before(sys_days day) {
  return day - (weekday{day} - std::chrono::Sunday);
}

bool same_month(sys_days a, sys_days b) {
  const year_month_day date_a{a}, date_b{b};
  return date_a.year() == date_b.year() && date_a.month() == date_b.month();
}

// How many days of the same name its month has from `day` on, in steps of a week.
int same_week_days(sys_days day, days week) {
  int n = 0;
  for (sys_days other = day; same_month(other, day); other += week) ++n;
  return n;
}

bool is_nth(const MonthlyOccurrence& occurrence, sys_days day) {
  if (static_cast<unsigned>(occurrence.day) != weekday{day}.c_encoding()) return false;
  if (occurrence.n > 0) return same_week_days(day, days{-7}) == occurrence.n;
  if (occurrence.n < 0) return same_week_days(day, days{7}) == -occurrence.n;
  return true;
}

// Answers for one recurrence: does this day, this hour of it, this minute of it, belong?
class Questions {
 public:
  Questions(const Recurrence& recurrence, Instant anchor)
      : recurrence_(recurrence),
        schedule_(recurrence.schedule),
        anchor_day_(floor<days>(anchor)),
        anchor_date_(anchor_day_),
        anchor_hour_(floor<hours>(anchor)),
        anchor_minute_(floor<minutes>(anchor)),
        anchor_rest_(anchor - anchor_minute_) {}

  bool has_day(sys_days day) const {
    switch (recurrence_.frequency) {
      case Frequency::minute:
      case Frequency::hour:
        return true;
      case Frequency::day:
        return is_turn((day - anchor_day_).count());
      case Frequency::week:
        return is_turn((sunday_before(day) - sunday_before(anchor_day_)).count() / 7) &&
               names_week_day(day);
      case Frequency::month:
        return names_month(day) && names_day_of_month(day);
      case Frequency::year:
        return names_month_of_year(day) && names_day_of_month(day);
    }
    ASSERT(false);
  }

  bool has_hour(sys_days day, hours hour) const {
    if (recurrence_.frequency == Frequency::minute) return true;
    if (recurrence_.frequency == Frequency::hour) {
      return is_turn((day + hour - anchor_hour_) / hours{1}) &&
             (schedule_.hours.empty() || names(schedule_.hours, hour.count()));
    }
    if (!schedule_.hours.empty()) return names(schedule_.hours, hour.count());
    return !schedule_.minutes.empty() || hour == anchor_hour_ - anchor_day_;
  }

  bool has_minute(sys_days day, hours hour, minutes minute) const {
    if (recurrence_.frequency == Frequency::minute) {
      return is_turn((day + hour + minute - anchor_minute_) / minutes{1});
    }
    if (!schedule_.minutes.empty()) return names(schedule_.minutes, minute.count());
    return minute == anchor_minute_ - anchor_hour_;
  }

  // Seconds and fractions within the minute.
  Ticks rest() const { return schedule_.minutes.empty() ? anchor_rest_ : Ticks{0}; }

 private:
  static bool names(SmallSet set, std::int64_t value) {
    return set.contains(static_cast<int>(value));
  }

  // Periods before the anchor's are asked for too, and do not matter: nothing runs in them.
  bool is_turn(std::int64_t periods) const { return periods % recurrence_.interval == 0; }

  bool names_week_day(sys_days day) const {
    if (schedule_.week_days.empty()) return weekday{day} == weekday{anchor_day_};
    return names(schedule_.week_days, weekday{day}.c_encoding());
  }

  bool names_month(sys_days day) const {
    const year_month_day date{day};
    const int years = static_cast<int>(date.year()) - static_cast<int>(anchor_date_.year());
    const int months = number(date.month()) - number(anchor_date_.month());
    if (!is_turn(12 * years + months)) return false;
    return schedule_.months.empty() || names(schedule_.months, number(date.month()));
  }

  bool names_month_of_year(sys_days day) const {
    const year_month_day date{day};
    if (!is_turn((date.year() - anchor_date_.year()).count())) return false;
    if (schedule_.months.empty()) return date.month() == anchor_date_.month();
    return names(schedule_.months, number(date.month()));
  }

  bool names_day_of_month(sys_days day) const {
    const int today = number(year_month_day{day}.day());
    const int last = last_day_of_month(day);
    const int anchor_day = number(anchor_date_.day());
    if (schedule_.empty()) return today == std::min(anchor_day, last);

    const bool by_number = schedule_.names_month_days();
    const bool by_week_day = !schedule_.monthly_occurrences.empty();
    if (!by_number && !by_week_day) return today == anchor_day;
    if (by_number && !names(schedule_.month_days, today) &&
        !names(schedule_.month_days_from_end, last - today + 1)) {
      return false;
    }
    return !by_week_day || is_one_of_the_nth(day);
  }

  bool is_one_of_the_nth(sys_days day) const {
    return std::any_of(
        schedule_.monthly_occurrences.begin(), schedule_.monthly_occurrences.end(),
        [day](const MonthlyOccurrence& occurrence) { return is_nth(occurrence, day); });
  }

  const Recurrence& recurrence_;
  const Schedule& schedule_;
  sys_days anchor_day_;
  year_month_day anchor_date_;
  std::chrono::sys_time<hours> anchor_hour_;
  std::chrono::sys_time<minutes> anchor_minute_;
  Ticks anchor_rest_;
};

std::vector<Instant> occurrences_on(const Questions& questions, sys_days day) {
  std::vector<Instant> found;
  if (!questions.has_day(day)) return found;
  for (hours hour{0}; hour < hours{24}; ++hour) {
    if (!questions.has_hour(day, hour)) continue;
    for (minutes minute{0}; minute < minutes{60}; ++minute) {
      if (!questions.has_minute(day, hour, minute)) continue;
      found.push_back(day + hour + minute + questions.rest());
    }
  }
  return found;
}

std::size_t allowed(const Recurrence& recurrence, std::int64_t ran, std::size_t limit) {
  if (!recurrence.count) return limit;
  const std::int64_t left = std::max<std::int64_t>(0, *recurrence.count - ran);
  return std::min(limit, static_cast<std::size_t>(left));
}

}  // namespace

std::vector<Instant> naive_occurrences(const Recurrence& recurrence, Instant anchor,
                                       std::int64_t ran, const NaiveWindow& window) {
  const Questions questions(recurrence, anchor);
  const Instant first = std::max(anchor, window.after + kOneTick);
  const Instant last =
      std::min({window.until, recurrence.end_time.value_or(kLastInstant), kLastInstant});
  const std::size_t limit = allowed(recurrence, ran, window.limit);

  std::vector<Instant> listed;
  for (sys_days day = floor<days>(first); day <= last && listed.size() < limit; day += days{1}) {
    for (const Instant occurrence : occurrences_on(questions, day)) {
      if (listed.size() == limit) break;
      if (first <= occurrence && occurrence <= last) listed.push_back(occurrence);
    }
  }
  return listed;
}

std::optional<Instant> naive_first_occurrence(const Timing& timing, Instant now, Instant until) {
  if (!timing.start_time) return now;
  if (!timing.recurrence) {
    const Instant once = std::max(*timing.start_time, now);
    return once <= until ? std::optional(once) : std::nullopt;
  }
  const NaiveWindow window{.after = now, .until = until, .limit = 1};
  const auto found = naive_occurrences(*timing.recurrence, *timing.start_time, 0, window);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace belfry
