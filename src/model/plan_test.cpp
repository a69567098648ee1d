// SPDX-License-Identifier: MIT

#include "model/plan.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

constexpr Sku kSkus[] = {Sku::free, Sku::standard, Sku::p10_premium, Sku::p20_premium};

// An Azure client that asks for nothing finds what it always found.
TEST(Plans, OpenOnesGiveUnaskedWhatAzureGave) {
  for (const Sku sku : kSkus) {
    const Plan azure = Plans::azure().of(sku);
    const Plan open = Plans::open().of(sku);
    EXPECT_EQ(open.given, azure.given);
    EXPECT_EQ(open.authentication, azure.authentication);
    EXPECT_EQ(open.retry_interval_min, azure.retry_interval_min);
    EXPECT_EQ(open.retry_interval_default, azure.retry_interval_default);
  }
}

TEST(Plans, OpenOnesHaveAMillionJobsAndOneAMinute) {
  for (const Sku sku : kSkus) {
    EXPECT_EQ(Plans::open().of(sku).ceiling, (Quota{1'000'000, {Frequency::minute, 1}}));
    EXPECT_EQ(Plans::azure().of(sku).ceiling, Plans::azure().of(sku).given);
  }
}

}  // namespace
}  // namespace belfry
