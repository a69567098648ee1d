// SPDX-License-Identifier: MIT
//
// A second calendar, to judge the first one by. It is as naive as can be: it goes through the
// window day by day and minute by minute and asks of each minute whether the recurrence means
// it. It jumps nowhere and shares nothing with src/recurrence, so an error there and the same
// error here would have to be made twice. UTC only; for tests only, since it is slow.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/recurrence.h"

namespace belfry {

// What to list: the first `limit` occurrences that are later than `after` and not later than
// `until`. The cost grows with the number of days in between.
struct NaiveWindow {
  Instant after;
  Instant until;
  std::size_t limit;
};

// In order. What `count` (of which `ran` are used up) or end_time ends is not listed, nor what
// lies after the year 9999.
std::vector<Instant> naive_occurrences(const Recurrence& recurrence, Instant anchor,
                                       std::int64_t ran, const NaiveWindow& window);

// When a job that is defined at `now` runs first; none if that is after `until`.
std::optional<Instant> naive_first_occurrence(const Timing& timing, Instant now, Instant until);

}  // namespace belfry
