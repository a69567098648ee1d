// SPDX-License-Identifier: MIT
//
// Plan is what a SKU gives a collection that asks for nothing, and what it may ask for. What is
// given is Azure's; how much may be asked for, the operator says.

#pragma once

#include <string_view>

#include "model/collection.h"

namespace belfry {

struct Plan {
  Quota given;
  Quota ceiling;
  std::int64_t collections_max = 0;
  bool authentication = true;  // may HTTP jobs authenticate themselves?
  Ticks retry_interval_min{};
  Ticks retry_interval_default{};
};

inline constexpr std::int64_t kCollectionsPerSubscriptionMax = 200'000;
inline constexpr int kJobsPerCollectionMax = 1'000'000;

struct Plans {
  Plan free, standard, p10_premium, p20_premium;
  std::int64_t collections_max = kCollectionsPerSubscriptionMax;  // of a subscription, in all plans

  static Plans azure();  // no more than Azure gave
  static Plans open();   // a million jobs in a collection, one a minute at most
  const Plan& of(Sku sku) const;
};

// How one may have more than the plan allows: a sentence behind a blank; nothing where nobody may.
std::string_view more_than(const Plan& plan);

// At most this long does a period of the quota last, so that two can be compared: a month
// counts 28 days and a year 365.
Ticks shortest_length(const MaxRecurrence& period);

}  // namespace belfry
