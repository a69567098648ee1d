// SPDX-License-Identifier: MIT

#include "model/plan.h"

#include "base/assert.h"
#include "model/action.h"

namespace belfry {

Plans Plans::azure() {
  const MaxRecurrence every_minute{Frequency::minute, 1};
  const Plan paid{.max_recurrence = every_minute,
                  .authentication = true,
                  .retry_interval_min = kRetryIntervalMin,
                  .retry_interval_default = kRetryIntervalDefault};
  Plans plans{paid, paid, paid, paid};
  plans.free = {.jobs_max = 5,
                .max_recurrence = {Frequency::hour, 1},
                .collections_max = 1,
                .authentication = false,
                .retry_interval_min = kRetryIntervalFree,
                .retry_interval_default = kRetryIntervalFree};
  plans.standard.jobs_max = 50;
  plans.standard.collections_max = 100;
  plans.p10_premium.jobs_max = 50;
  plans.p10_premium.collections_max = 10'000;
  plans.p20_premium.jobs_max = 1'000;
  plans.p20_premium.collections_max = 10'000;
  return plans;
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
