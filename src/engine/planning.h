// SPDX-License-Identifier: MIT
//
// What a job does next, by its calendar and what is already covered. Shared by settle() and
// by the changes that API writes make to a job. Pure.

#pragma once

#include <optional>
#include <string_view>

#include "base/instant.h"
#include "model/history.h"
#include "model/job.h"

namespace belfry {

// A gap is counted one by one up to here; a longer one is said to be at least this long.
inline constexpr std::int64_t kGapCountMax = 100'000;

// The first instant after `after` that the calendar plans for the job.
std::optional<Instant> planned_after(const Job& job, Instant after);

// Planned instants that were passed over: from `first`, none later than `until`.
struct Missed {
  Instant first;
  Instant last;
  std::int64_t count = 0;
};

// The planned instants after job.covered_until and up to `until`; none when there are none.
std::optional<Missed> missed_until(const Job& job, Instant until);

// One row that covers them, and a job that owes them no longer.
HistoryEntry record_gap(Job& job, const Missed& missed, Instant now, std::string_view reason);

// Plans the next occurrence after what is covered. A job that has none left is at its end:
// completed, or faulted if its last occurrence used up its retries.
enum class LastOccurrence { passed, failed };
void plan_next(Job& job, Instant now, LastOccurrence last);

// The same for a job that rests: it plans nothing, but is at its end if nothing were left for it to
// do should it be enabled now.
void rest(Job& job, Instant now, LastOccurrence last);

}  // namespace belfry
