// SPDX-License-Identifier: MIT

#include "tests/simulation/long_run.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "tests/simulation/chaos.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr std::uint64_t kSeed = 60;

void put_many(Simulation& simulation, int count, int interval, Frequency frequency) {
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("every{}-{}-{}", interval, static_cast<int>(frequency), i);
    const JobDefinition plain = every(interval, frequency);
    ASSERT(simulation.put(name, i % 3 == 0 ? with_error_action(plain) : plain));
  }
}

ChaosRates rare_faults() {
  ChaosRates rates;
  rates.store_fault = 2'000;
  rates.crash = 5'000;
  rates.downtime = 200'000;
  rates.stall = 5'000;
  rates.write_every = hours{1};
  rates.jobs = 40;
  rates.collections = false;
  return rates;
}

}  // namespace

LongRunResult run_long(const LongRun& run) {
  EngineOptions options = simulated_engine_options();
  // The history is swept on the way, as on any server.
  options.history_kept = days{1};
  options.ended_jobs_kept = days{2};
  options.refused_backoff = std::chrono::seconds{20};
  options.sweep_every = hours{6};
  options.sweep_rows_max = 100'000;
  Simulation simulation(kSeed, options);
  simulation.watcher().keep_rows(200);
  simulation.check_wake_every(50);
  put_many(simulation, run.jobs_every_minute, 1, Frequency::minute);
  put_many(simulation, 25 * run.jobs_every_minute, 5, Frequency::minute);
  put_many(simulation, 40 * run.jobs_every_minute, 15, Frequency::minute);
  put_many(simulation, 40 * run.jobs_every_minute, 1, Frequency::hour);
  put_many(simulation, 40 * run.jobs_every_minute, 1, Frequency::day);
  put_many(simulation, 10 * run.jobs_every_minute, 1, Frequency::week);
  put_many(simulation, 10 * run.jobs_every_minute, 1, Frequency::month);
  simulation.dispatcher().set_moody();
  Chaos chaos(simulation, Random(kSeed + 1), rare_faults());
  chaos.run_for(days{run.days});
  if (simulation.checker().content()) simulation.end();
  LongRunResult result;
  result.executions = simulation.dispatcher().accepted();
  result.steps = simulation.steps();
  if (!simulation.checker().content()) result.faults = simulation.checker().report();
  return result;
}

}  // namespace belfry
