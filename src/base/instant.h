// SPDX-License-Identifier: MIT
//
// Instant is a point in time, counted in ticks of 100 ns since 1970 in UTC: the resolution of
// Azure's dates, so that every date a client sends comes back as it was. It reaches far
// beyond the years 1 to 9999 that can be written down.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>

namespace belfry {

using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
using Instant = std::chrono::sys_time<Ticks>;
using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

inline constexpr Ticks kOneTick{1};

// The first and the last instant that can be written as a four-digit year.
inline constexpr Instant kFirstInstant{
    std::chrono::sys_days{std::chrono::year{1} / std::chrono::January / 1}.time_since_epoch()};
inline constexpr Instant kLastInstant =
    Instant{std::chrono::sys_days{std::chrono::year{10000} / std::chrono::January / 1}
                .time_since_epoch()} -
    kOneTick;

// 2016-01-29T09:00:00Z, with up to seven digits of a fraction and none of its last zeros.
std::string format_instant(Instant instant);
void append_instant(std::string& text, Instant instant);

// The same to where there is room for kInstantBytesMax bytes. Where it ends.
inline constexpr std::size_t kInstantBytesMax = sizeof("9999-12-31T23:59:59.9999999Z") - 1;
char* write_instant(char* to, Instant instant);

// 2016-01-29T09:00:00: the same without fraction and zone.
void append_date_time(std::string& text, Instant instant);

// ".216" for 2,160,000 ticks, nothing for none; less than a second.
std::string format_fraction(Ticks below_second);

}  // namespace belfry
