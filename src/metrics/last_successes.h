// SPDX-License-Identifier: MIT
//
// When each job that asks for it (properties.metrics) last succeeded, so that "has not succeeded
// for a day" can be an alert: a rule that counts failures is silent about what never runs.

#pragma once

#include <vector>

#include "metrics/families.h"
#include "store/store_facts.h"

namespace belfry {

Families collect_last_successes(const std::vector<LastSuccess>& jobs);

}  // namespace belfry
