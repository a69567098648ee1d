// SPDX-License-Identifier: MIT
//
// Chaos drives a simulation by chance: users who write at any moment and at the worst, a store
// that fails in every way, a process that dies anywhere, a clock that jumps. One seed decides
// all of it.

#pragma once

#include "base/random.h"
#include "tests/simulation/random_jobs.h"
#include "tests/simulation/simulation.h"

namespace belfry {

// Each happens once in so many steps on average; 0: never.
struct ChaosRates {
  std::uint64_t store_fault = 0;
  std::uint64_t outage = 0;  // the store is down for minutes
  std::uint64_t stall = 0;
  std::uint64_t crash = 0;     // somewhere in the step, or after it
  std::uint64_t downtime = 0;  // crash, and nobody starts it for hours
  std::uint64_t clock_jump = 0;
  std::uint64_t hold = 0;  // the engine may not start anything for a while
  Ticks write_every{};     // on average
  JobTaste taste;
  int jobs = 5;             // names that users know
  bool collections = true;  // do users write to collections, too?
};

class Chaos {
 public:
  Chaos(Simulation& simulation, Random random, const ChaosRates& rates)
      : simulation_(simulation), random_(random), rates_(rates) {}

  void run_for(Ticks time);

 private:
  StepFaults faults_of_step();
  StoreFaults random_store_fault();
  StepFaults random_crash();
  bool happens(std::uint64_t rate) { return rate != 0 && random_.one_in(rate); }

  void ask_something();
  Command random_command();
  Command job_command();
  Command collection_command();
  CollectionKey some_collection();
  JobKey some_job();
  Instant next_write();

  Simulation& simulation_;
  Random random_;
  const ChaosRates rates_;
  Instant write_at_;
  Instant down_until_;
};

// Rates and engine options of all kinds, from a seed.
struct Scenario {
  EngineOptions engine;
  ChaosRates rates;
  Ticks length;
};
Scenario random_scenario(Random& random);

}  // namespace belfry
