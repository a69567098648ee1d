// SPDX-License-Identifier: MIT

#include "wire/iso8601.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/digits.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kTickDigits = 7;

// Takes a text apart from the left. Each step says whether it could be taken.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_either(char one, char other) { return take(one) || take(other); }

  // Exactly `digits` digits.
  std::optional<int> number(int digits) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!is_digit(peek())) return std::nullopt;
      value = value * 10 + take_digit();
    }
    return value;
  }

  // One or more digits, as long as the value stays small enough to calculate with.
  std::optional<std::int64_t> number() {
    constexpr std::int64_t kEnough = 1'000'000'000'000;
    if (!is_digit(peek())) return std::nullopt;
    std::int64_t value = 0;
    while (is_digit(peek())) {
      value = value * 10 + take_digit();
      if (value > kEnough) return std::nullopt;
    }
    return value;
  }

  // The digits after a decimal point, as ticks; what is finer is cut off.
  std::optional<Ticks> fraction() {
    if (!is_digit(peek())) return std::nullopt;
    std::int64_t ticks = 0;
    int taken = 0;
    for (; is_digit(peek()); ++taken) {
      const int digit = take_digit();
      if (taken < kTickDigits) ticks = ticks * 10 + digit;
    }
    for (; taken < kTickDigits; ++taken) ticks *= 10;
    return Ticks{ticks};
  }

 private:
  static bool is_digit(char c) { return '0' <= c && c <= '9'; }

  int take_digit() {
    const int digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return digit;
  }

  std::string_view rest_;
};

std::optional<Instant> take_date(Cursor& text) {
  const auto year = text.number(4);
  if (!year || !text.take('-')) return std::nullopt;
  const auto month = text.number(2);
  if (!month || !text.take('-')) return std::nullopt;
  const auto day = text.number(2);
  if (!day) return std::nullopt;
  const auto date = std::chrono::year{*year} / *month / *day;
  if (!date.ok() || *year < 1) return std::nullopt;
  return Instant{std::chrono::sys_days{date}};
}

// hh:mm, hh:mm:ss or hh:mm:ss.f
std::optional<Ticks> take_time_of_day(Cursor& text) {
  const auto hour = text.number(2);
  if (!hour || *hour > 23 || !text.take(':')) return std::nullopt;
  const auto minute = text.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  Ticks time = hours{*hour} + minutes{*minute};
  if (!text.take(':')) return time;
  const auto second = text.number(2);
  if (!second || *second > 59) return std::nullopt;
  time += seconds{*second};
  if (!text.take('.')) return time;
  const auto fraction = text.fraction();
  if (!fraction) return std::nullopt;
  return time + *fraction;
}

// Nothing, Z, +hh, +hhmm or +hh:mm.
std::optional<Ticks> take_offset(Cursor& text) {
  if (text.at_end() || text.take_either('Z', 'z')) return Ticks{0};
  const bool west = text.peek() == '-';
  if (!text.take_either('+', '-')) return std::nullopt;
  const auto hour = text.number(2);
  if (!hour || *hour > 23) return std::nullopt;
  Ticks offset = hours{*hour};
  if (!text.at_end()) {
    text.take(':');
    const auto minute = text.number(2);
    if (!minute || *minute > 59) return std::nullopt;
    offset += minutes{*minute};
  }
  return west ? -offset : offset;
}

std::optional<Ticks> checked(Ticks duration) {
  if (duration < Ticks{0} || duration > kDurationMax) return std::nullopt;
  return duration;
}

std::optional<Ticks> unit_of_date_part(char letter) {
  switch (letter) {
    case 'Y':
      return days{365};
    case 'M':
      return days{30};
    case 'W':
      return days{7};
    case 'D':
      return days{1};
  }
  return std::nullopt;
}

std::optional<Ticks> unit_of_time_part(char letter) {
  switch (letter) {
    case 'D':  // as the documents write it: PT1D
      return days{1};
    case 'H':
      return hours{1};
    case 'M':
      return minutes{1};
    case 'S':
      return seconds{1};
  }
  return std::nullopt;
}

// What follows the P.
std::optional<Ticks> take_iso_duration(Cursor& text) {
  Ticks total{0};
  bool in_time = false;
  bool any = false;
  while (!text.at_end()) {
    if (!in_time && text.take('T')) {
      in_time = true;
      any = false;  // something must follow the T
      continue;
    }
    const auto number = text.number();
    if (!number) return std::nullopt;
    Ticks fraction{0};
    const bool fractional = text.take('.');
    if (fractional) {
      const auto digits = text.fraction();
      if (!digits || !in_time || text.peek() != 'S') return std::nullopt;
      fraction = *digits;
    }
    const auto unit = in_time ? unit_of_time_part(text.peek()) : unit_of_date_part(text.peek());
    if (!unit || *number > kDurationMax / *unit) return std::nullopt;
    text.take(text.peek());
    total += *unit * *number + fraction;
    if (total > kDurationMax) return std::nullopt;
    any = true;
  }
  if (!any) return std::nullopt;
  return total;
}

// [d.]hh:mm:ss[.f]
std::optional<Ticks> take_time_span(std::string_view text) {
  Cursor cursor(text);
  Ticks total{0};
  const auto colon = text.find(':');
  if (text.substr(0, colon).find('.') != std::string_view::npos) {
    const auto day_count = cursor.number();
    if (!day_count || *day_count > kDurationMax / days{1} || !cursor.take('.')) return std::nullopt;
    total = days{*day_count};
  }
  const auto time = take_time_of_day(cursor);
  if (!time || !cursor.at_end()) return std::nullopt;
  return total + *time;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
  Cursor cursor(trimmed(text));
  const auto date = take_date(cursor);
  if (!date) return std::nullopt;
  Instant instant = *date;
  if (!cursor.at_end()) {
    if (!cursor.take_either('T', 't') && !cursor.take(' ')) return std::nullopt;
    const auto time = take_time_of_day(cursor);
    if (!time) return std::nullopt;
    const auto offset = take_offset(cursor);
    if (!offset || !cursor.at_end()) return std::nullopt;
    instant += *time - *offset;
  }
  if (instant < kFirstInstant || instant > kLastInstant) return std::nullopt;
  return instant;
}

std::optional<Ticks> parse_duration(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  Cursor cursor(text);
  const auto duration = cursor.take('P') ? take_iso_duration(cursor) : take_time_span(text);
  if (!duration) return std::nullopt;
  return checked(*duration);
}

std::string format_duration(Ticks duration) {
  const auto day_count = std::chrono::floor<days>(duration);
  const auto whole = std::chrono::floor<seconds>(duration);
  const std::chrono::hh_mm_ss time{whole - day_count};
  std::string text;
  if (day_count.count() != 0) text = fmt::format("{}.", day_count.count());
  append_digits<2>(text, static_cast<std::uint64_t>(time.hours().count()));
  text += ':';
  append_digits<2>(text, static_cast<std::uint64_t>(time.minutes().count()));
  text += ':';
  append_digits<2>(text, static_cast<std::uint64_t>(time.seconds().count()));
  return text + format_fraction(duration - whole);
}

std::string format_iso_duration(Ticks duration) {
  const auto day_count = std::chrono::floor<days>(duration);
  const auto whole = std::chrono::floor<seconds>(duration);
  const std::chrono::hh_mm_ss time{whole - day_count};
  std::string out = "P";
  if (day_count.count() > 0) out += fmt::format("{}D", day_count.count());
  if (duration == day_count && duration > Ticks{0}) return out;
  out += 'T';
  if (time.hours().count() > 0) out += fmt::format("{}H", time.hours().count());
  if (time.minutes().count() > 0) out += fmt::format("{}M", time.minutes().count());
  const std::string fraction = format_fraction(duration - whole);
  if (time.seconds().count() > 0 || !fraction.empty() || out.back() == 'T') {
    out += fmt::format("{}{}S", time.seconds().count(), fraction);
  }
  return out;
}

}  // namespace belfry
