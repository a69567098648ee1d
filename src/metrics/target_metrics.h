// SPDX-License-Identifier: MIT
//
// How many calls and messages wait for each target. Users choose the targets, so there may be any
// number of them: only the longest queues are named, and what waits elsewhere is added up.

#pragma once

#include <vector>

#include "metrics/families.h"
#include "net/target_load.h"

namespace belfry {

inline constexpr std::size_t kTargetsNamedMax = 20;

Families collect_targets(const std::vector<TargetLoad>& loads);

}  // namespace belfry
