// SPDX-License-Identifier: MIT

#include "base/instant.h"

#include <array>
#include <cstring>

#include "base/digits.h"

namespace belfry {

namespace {

constexpr std::size_t kDateTimeBytes = sizeof("9999-12-31T23:59:59") - 1;

using Second = std::chrono::sys_seconds;

void write_date_time_anew(char* to, Second second) {
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{second - day};
  std::memcpy(to, "0000-00-00T00:00:00", kDateTimeBytes);
  write_digits<4>(to, static_cast<unsigned>(static_cast<int>(date.year())));
  write_digits<2>(to + 5, static_cast<unsigned>(date.month()));
  write_digits<2>(to + 8, static_cast<unsigned>(date.day()));
  write_digits<2>(to + 11, static_cast<std::uint64_t>(time.hours().count()));
  write_digits<2>(to + 14, static_cast<std::uint64_t>(time.minutes().count()));
  write_digits<2>(to + 17, static_cast<std::uint64_t>(time.seconds().count()));
}

// As many bytes as kDateTimeBytes. What is written together is often of one second: when an attempt
// was due, began and ended.
void write_date_time(char* to, Second second) {
  struct Written {
    Second second = Second::max();
    std::array<char, kDateTimeBytes> text{};
  };
  thread_local Written last;
  if (second != last.second) {
    write_date_time_anew(last.text.data(), second);
    last.second = second;
  }
  std::memcpy(to, last.text.data(), kDateTimeBytes);
}

// How many bytes of `to` it takes: the point, and digits up to the last that is not 0.
std::size_t write_fraction(char* to, Ticks below_second) {
  if (below_second == Ticks{0}) return 0;
  to[0] = '.';
  write_digits<7>(to + 1, static_cast<std::uint64_t>(below_second.count()));
  std::size_t size = 8;
  while (to[size - 1] == '0') --size;
  return size;
}

}  // namespace

std::string format_fraction(Ticks below_second) {
  std::array<char, 8> bytes;
  return {bytes.data(), write_fraction(bytes.data(), below_second)};
}

void append_date_time(std::string& text, Instant instant) {
  std::array<char, kDateTimeBytes> bytes;
  write_date_time(bytes.data(), std::chrono::floor<Seconds>(instant));
  text.append(bytes.data(), bytes.size());
}

char* write_instant(char* to, Instant instant) {
  const auto second = std::chrono::floor<Seconds>(instant);
  write_date_time(to, second);
  to += kDateTimeBytes;
  to += write_fraction(to, instant - second);
  *to++ = 'Z';
  return to;
}

void append_instant(std::string& text, Instant instant) {
  std::array<char, kInstantBytesMax> bytes;
  const char* const end = write_instant(bytes.data(), instant);
  text.append(bytes.data(), static_cast<std::size_t>(end - bytes.data()));
}

std::string format_instant(Instant instant) {
  std::string text;
  append_instant(text, instant);
  return text;
}

}  // namespace belfry
