// SPDX-License-Identifier: MIT

#include "model/plan.h"

#include "base/assert.h"
#include "model/action.h"

namespace belfry {

namespace {

constexpr MaxRecurrence kEveryMinute{Frequency::minute, 1};
constexpr Quota kOpen{kJobsPerCollectionMax, kEveryMinute};

Plan paid(int jobs, std::int64_t collections_max) {
  const Quota quota{jobs, kEveryMinute};
  return {.given = quota,
          .ceiling = quota,
          .collections_max = collections_max,
          .authentication = true,
          .retry_interval_min = kRetryIntervalMin,
          .retry_interval_default = kRetryIntervalDefault};
}

}  // namespace

Plans Plans::azure() {
  const Quota free{5, {Frequency::hour, 1}};
  return {.free = {.given = free,
                   .ceiling = free,
                   .collections_max = 1,
                   .authentication = false,
                   .retry_interval_min = kRetryIntervalFree,
                   .retry_interval_default = kRetryIntervalFree},
          .standard = paid(50, 100),
          .p10_premium = paid(50, 10'000),
          .p20_premium = paid(1'000, 10'000)};
}

Plans Plans::open() {
  Plans plans = azure();
  for (Plan* plan : {&plans.free, &plans.standard, &plans.p10_premium, &plans.p20_premium}) {
    plan->ceiling = kOpen;
  }
  for (Plan* plan : {&plans.standard, &plans.p10_premium, &plans.p20_premium}) {
    plan->collections_max = kCollectionsPerSubscriptionMax;
  }
  return plans;
}

std::string_view more_than(const Plan& plan) {
  return plan.ceiling == kOpen ? "" : " The server's setting plans = \"open\" allows more.";
}

const Plan& Plans::of(Sku sku) const {
  switch (sku) {
    case Sku::free:
      return free;
    case Sku::standard:
      return standard;
    case Sku::p10_premium:
      return p10_premium;
    case Sku::p20_premium:
      return p20_premium;
  }
  ASSERT(false && "a sku that has no plan");
  return free;
}

Ticks shortest_length(const MaxRecurrence& period) {
  constexpr Ticks kUnits[] = {std::chrono::minutes{1}, std::chrono::hours{1},
                              std::chrono::days{1},    std::chrono::weeks{1},
                              std::chrono::days{28},   std::chrono::days{365}};
  return kUnits[static_cast<std::size_t>(period.frequency)] * period.interval;
}

}  // namespace belfry
