// SPDX-License-Identifier: MIT
//
// The rules between the members of a Timing: which schedule parts go with which frequency,
// an end that has not passed, a schedule that does fire. Rules of one member alone cannot be
// broken by a value of the type, so the parser has reported those.

#pragma once

#include <vector>

#include "base/result.h"
#include "model/recurrence.h"

namespace belfry {

// One error for each broken rule, empty when the job may be accepted at `now`. Targets are
// relative to the job's properties: "recurrence.schedule.weekDays".
std::vector<Error> broken_timing_rules(const Timing& timing, Instant now);

}  // namespace belfry
