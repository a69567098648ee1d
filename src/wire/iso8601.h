// SPDX-License-Identifier: MIT
//
// Dates and durations as clients write them. In: ISO 8601 as far as the founding documents
// and the published clients use it, and .NET's [d.]hh:mm:ss. Out: one spelling each, the one
// the live service used; for dates that is format_instant() of base/instant.h.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"

namespace belfry {

// 2012-11-04, 2012-08-04T00:00Z, 2019-07-07T07:07:07.1234567-07:00; without an offset UTC.
// Digits beyond 100 ns are cut off. None for anything else, and outside the years 1 to 9999.
std::optional<Instant> parse_instant(std::string_view text);

// P1DT2H3M4.5S (a month is 30 days, a year 365, and the documents' PT1D is one day), or
// 1.02:03:04.5. Never negative; at most kDurationMax.
std::optional<Ticks> parse_duration(std::string_view text);
inline constexpr Ticks kDurationMax = std::chrono::days{36500};

// [d.]hh:mm:ss[.fffffff]
std::string format_duration(Ticks duration);

// P1DT2H3M4.5S
std::string format_iso_duration(Ticks duration);

}  // namespace belfry
