// SPDX-License-Identifier: MIT

#include "base/instant.h"

#include "base/digits.h"

namespace belfry {

std::string format_fraction(Ticks below_second) {
  if (below_second == Ticks{0}) return {};
  std::string digits = ".";
  append_digits<7>(digits, static_cast<std::uint64_t>(below_second.count()));
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

void append_date_time(std::string& text, Instant instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{std::chrono::floor<Seconds>(instant) - day};
  append_digits<4>(text, static_cast<unsigned>(static_cast<int>(date.year())));
  text += '-';
  append_digits<2>(text, static_cast<unsigned>(date.month()));
  text += '-';
  append_digits<2>(text, static_cast<unsigned>(date.day()));
  text += 'T';
  append_digits<2>(text, static_cast<std::uint64_t>(time.hours().count()));
  text += ':';
  append_digits<2>(text, static_cast<std::uint64_t>(time.minutes().count()));
  text += ':';
  append_digits<2>(text, static_cast<std::uint64_t>(time.seconds().count()));
}

std::string format_instant(Instant instant) {
  std::string text;
  text.reserve(sizeof("9999-12-31T23:59:59.9999999Z"));
  append_date_time(text, instant);
  text += format_fraction(instant - std::chrono::floor<Seconds>(instant));
  text += 'Z';
  return text;
}

}  // namespace belfry
