// SPDX-License-Identifier: MIT
//
// The rules between the members of a Timing: which schedule parts go with which frequency,
// an end that has not passed, a schedule that does fire. Rules of one member alone cannot be
// broken by a value of the type, so the parser has reported those.

#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "model/recurrence.h"

namespace belfry {

// One error for each rule that is broken at `now`. Targets are
// relative to the job's properties: "recurrence.schedule.weekDays".
std::vector<Error> broken_timing_rules(const Timing& timing, Instant now);

// Of a timing that breaks none of them: why it has no occurrence after `now`, if it has none. That
// is no way to make a job, but what becomes of many. `recurs_since`: of a job that recurs already,
// which does not ring at once again.
std::optional<Error> nothing_ahead(const Timing& timing, Instant now,
                                   std::optional<Instant> recurs_since = std::nullopt);

}  // namespace belfry
