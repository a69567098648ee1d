// SPDX-License-Identifier: MIT
//
// Month is a month of a year as one number, so that "n months later" is an addition, and
// days_of() says which of its days a schedule names.

#pragma once

#include <chrono>
#include <compare>

#include "model/recurrence.h"

namespace belfry {

struct Month {
  int index = 0;  // months since January of year 0

  static Month of(int year, int month) { return Month{year * 12 + month - 1}; }
  static Month of(std::chrono::year_month_day date) {
    return of(static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())));
  }
  static Month last() { return of(9999, 12); }

  int year() const { return index / 12; }
  int month() const { return index % 12 + 1; }
  int length() const;
  Month next() const { return Month{index + 1}; }
  std::chrono::local_days day(int day_of_month) const;

  auto operator<=>(const Month&) const = default;
};

// The days of `month` that the schedule names; `default_day` where it names none at all.
SmallSet days_of(Month month, const Schedule& schedule, int default_day);

}  // namespace belfry
