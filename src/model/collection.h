// SPDX-License-Identifier: MIT
//
// JobCollection owns jobs, and limits them: how many, and how often they may recur.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/key.h"
#include "model/recurrence.h"

namespace belfry {

enum class Sku { standard, free, p10_premium, p20_premium };
enum class CollectionState { enabled, disabled, suspended };

// The smallest period that a job of the collection may have.
struct MaxRecurrence {
  Frequency frequency = Frequency::minute;
  int interval = 1;

  bool operator==(const MaxRecurrence&) const = default;
};

struct Quota {
  int max_job_count = 0;
  MaxRecurrence max_recurrence;

  bool operator==(const Quota&) const = default;
};

struct JobCollection {
  CollectionKey key;
  std::string location;
  std::vector<std::pair<std::string, std::string>> tags;
  Sku sku = Sku::standard;
  CollectionState state = CollectionState::enabled;
  Quota quota;
  std::int64_t gen = 0;  // raised by API writes
};

}  // namespace belfry
