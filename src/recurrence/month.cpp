// SPDX-License-Identifier: MIT

#include "recurrence/month.h"

namespace belfry {
namespace {

using std::chrono::local_days;
using std::chrono::weekday;

SmallSet named_days(const Schedule& schedule, int length) {
  SmallSet named = schedule.month_days;
  const SmallSet from_end = schedule.month_days_from_end;
  for (auto back = from_end.first_from(1); back && *back <= length;
       back = from_end.first_from(*back + 1)) {
    named.insert(length + 1 - *back);
  }
  return named;
}

SmallSet named_week_days(Month month, const Schedule& schedule, int length) {
  const int first_week_day = static_cast<int>(weekday{month.day(1)}.c_encoding());
  SmallSet named;
  for (const MonthlyOccurrence& occurrence : schedule.monthly_occurrences) {
    const int first = 1 + (static_cast<int>(occurrence.day) - first_week_day + 7) % 7;
    const int last = first + (length - first) / 7 * 7;
    if (occurrence.n == MonthlyOccurrence::kEvery) {
      for (int day = first; day <= last; day += 7) named.insert(day);
      continue;
    }
    const int day =
        occurrence.n > 0 ? first + 7 * (occurrence.n - 1) : last + 7 * (occurrence.n + 1);
    if (first <= day && day <= last) named.insert(day);
  }
  return named;
}

}  // namespace

int Month::length() const {
  const std::chrono::month month_of_year{static_cast<unsigned>(month())};
  const std::chrono::year_month_day_last last{std::chrono::year{year()},
                                              std::chrono::month_day_last{month_of_year}};
  return static_cast<int>(static_cast<unsigned>(last.day()));
}

local_days Month::day(int day_of_month) const {
  return local_days{std::chrono::year{year()} / month() / day_of_month};
}

SmallSet days_of(Month month, const Schedule& schedule, int default_day) {
  const int length = month.length();
  SmallSet days = SmallSet::range(1, length);
  if (schedule.names_month_days()) days = days & named_days(schedule, length);
  if (!schedule.monthly_occurrences.empty()) {
    days = days & named_week_days(month, schedule, length);
  }
  if (!schedule.names_month_days() && schedule.monthly_occurrences.empty()) {
    days = days & SmallSet::single(default_day);
  }
  return days;
}

}  // namespace belfry
