// SPDX-License-Identifier: MIT
//
// Plan is what a SKU allows. The defaults are Azure's; the operator may raise them.

#pragma once

#include "model/collection.h"

namespace belfry {

struct Plan {
  int jobs_max = 0;
  MaxRecurrence max_recurrence;  // nothing may recur more often
  std::int64_t collections_max = 0;
  bool authentication = true;  // may HTTP jobs authenticate themselves?
  Ticks retry_interval_min{};
  Ticks retry_interval_default{};
};

inline constexpr std::int64_t kCollectionsPerSubscriptionMax = 200'000;

struct Plans {
  Plan free, standard, p10_premium, p20_premium;
  std::int64_t collections_max = kCollectionsPerSubscriptionMax;  // of a subscription, in all plans

  static Plans azure();
  const Plan& of(Sku sku) const;
};

// At most this long does a period of the quota last, so that two can be compared: a month
// counts 28 days and a year 365.
Ticks shortest_length(const MaxRecurrence& period);

}  // namespace belfry
