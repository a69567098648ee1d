// SPDX-License-Identifier: MIT
//
// The long run of bench/simulation_bench.cpp, cut short for a build with sanitizers.

#include "tests/simulation/long_run.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(LongRun, ThreeDaysOfABusyServerAreKeptWithoutALoss) {
  const LongRunResult result = run_long({.days = 3, .jobs_every_minute = 1});
  EXPECT_EQ(result.faults, "");
  EXPECT_GT(result.executions, 20'000) << result.steps << " steps";
}

}  // namespace
}  // namespace belfry
