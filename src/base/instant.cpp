// SPDX-License-Identifier: MIT

#include "base/instant.h"

#include <fmt/format.h>

namespace belfry {

std::string format_fraction(Ticks below_second) {
  if (below_second == Ticks{0}) return {};
  std::string digits = fmt::format(".{:07}", below_second.count());
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

std::string format_instant(Instant instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const auto whole = std::chrono::floor<Seconds>(instant);
  const std::chrono::hh_mm_ss time{whole - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     format_fraction(instant - whole));
}

}  // namespace belfry
