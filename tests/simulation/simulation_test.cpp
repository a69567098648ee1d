// SPDX-License-Identifier: MIT
//
// The engine under chaos, from many seeds. BELFRY_SEED chooses the first one; BELFRY_SEEDS how
// many. A failure prints its seed: `make sim SEED=n` runs that one again.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/simulation/chaos.h"

namespace belfry {
namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kSeeds = 2000;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* chosen = std::getenv(name);
  return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : otherwise;
}

std::int64_t executions_under_chaos(std::uint64_t seed) {
  Random random(seed);
  const Scenario scenario = random_scenario(random);
  Simulation simulation(random.next(), scenario.engine);
  simulation.dispatcher().set_moody();
  Chaos chaos(simulation, Random(random.next()), scenario.rates);
  chaos.run_for(scenario.length);
  if (simulation.checker().content()) simulation.end();
  EXPECT_TRUE(simulation.checker().content())
      << "seed " << seed << ": " << simulation.checker().report();
  return simulation.dispatcher().accepted();
}

TEST(Simulation, LosesNothingUnderChaos) {
  const std::uint64_t first = number_from("BELFRY_SEED", kFirstSeed);
  const std::uint64_t seeds = number_from("BELFRY_SEEDS", kSeeds);
  std::int64_t sent = 0;
  for (std::uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    sent += executions_under_chaos(seed);
  }
  fmt::print("{} seeds from {}: {} attempts were sent\n", seeds, first, sent);
}

}  // namespace
}  // namespace belfry
