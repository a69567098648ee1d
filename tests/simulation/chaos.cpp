// SPDX-License-Identifier: MIT

#include "tests/simulation/chaos.h"

#include <fmt/format.h>

#include <algorithm>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

}  // namespace

void Chaos::run_for(Ticks time) {
  SimulatedTime& clock = simulation_.time();
  const Instant end = clock.passed() + time;
  write_at_ = clock.passed();
  while (clock.passed() < end && simulation_.checker().content()) {
    simulation_.go_to(std::min({simulation_.next_wake(), write_at_, end}));
    if (happens(rates_.clock_jump)) {
      simulation_.set_clock_by(Seconds{random_.between(-3 * 3600, 5 * 3600)});
    }
    if (happens(rates_.hold)) simulation_.hold_for(Seconds{random_.between(1, 600)});
    if (clock.passed() >= write_at_) {
      ask_something();
      write_at_ = next_write();
    }
    simulation_.step(faults_of_step());
    if (happens(rates_.downtime)) {
      simulation_.crash();
      clock.pass(minutes{random_.between(1, 300)});
    }
  }
}

// Any time, or just when a job is due, or with the next thing that happens anyway.
Instant Chaos::next_write() {
  const Instant now = simulation_.time().passed();
  const auto mean = std::chrono::duration_cast<Millis>(rates_.write_every).count();
  const Instant any = now + Millis{random_.between(1, 2 * mean)};
  switch (random_.below(4)) {
    case 0:
      return std::max(now, std::min(any, simulation_.next_wake()));
    case 1: {
      const auto due = *simulation_.store().truth().due({1});
      if (due.empty()) return any;
      return std::clamp(simulation_.time().when_told(due[0].next->due), now, any);
    }
    default:
      return any;
  }
}

StepFaults Chaos::faults_of_step() {
  StepFaults faults;
  const Instant now = simulation_.time().passed();
  if (happens(rates_.outage)) down_until_ = now + Seconds{random_.between(1, 1800)};
  if (now < down_until_) {
    faults.store.down = true;
  } else if (happens(rates_.store_fault)) {
    faults.store = random_store_fault();
  } else if (happens(rates_.crash)) {
    faults = random_crash();
  }
  if (happens(rates_.stall)) faults.store.stall = Millis{random_.between(1, 90'000)};
  return faults;
}

StoreFaults Chaos::random_store_fault() {
  StoreFaults faults;
  switch (random_.below(5)) {
    case 0:
      faults.commit = CommitFault::unavailable;
      break;
    case 1:
      faults.commit = CommitFault::lost_unapplied;
      break;
    case 2:
      faults.commit = CommitFault::lost_applied;
      break;
    case 3:
      faults.failing_read = static_cast<int>(random_.below(6));
      break;
    default:
      faults.sweep_fails = true;
  }
  return faults;
}

StepFaults Chaos::random_crash() {
  StepFaults faults;
  switch (random_.below(5)) {
    case 0:
      faults.store.commit = CommitFault::crash_before;
      break;
    case 1:
      faults.store.commit = CommitFault::crash_after;
      break;
    case 2:
      faults.send.crash_before = static_cast<int>(random_.below(2));
      break;
    case 3:
      faults.send.crash_after = static_cast<int>(random_.below(2));
      break;
    default:
      faults.crash_before_reply = true;
  }
  return faults;
}

void Chaos::ask_something() {
  // A crash leaves writes unanswered; of one at a time the clerk can tell whether it happened.
  const std::uint64_t most = rates_.crash != 0 ? 1 : 4;
  for (std::uint64_t n = random_.below(most) + 1; n > 0; --n) {
    simulation_.clerk().ask(random_command());
  }
}

CollectionKey Chaos::some_collection() {
  CollectionKey key = Simulation::first_collection().key;
  if (random_.one_in(4)) key.name = "second";
  return key;
}

JobKey Chaos::some_job() {
  return {some_collection(),
          fmt::format("job{}", random_.below(static_cast<std::uint64_t>(rates_.jobs)))};
}

Command Chaos::random_command() {
  return rates_.collections && random_.one_in(8) ? collection_command() : job_command();
}

Command Chaos::collection_command() {
  JobCollection collection = Simulation::first_collection();
  collection.key = some_collection();
  switch (random_.below(6)) {
    case 0:
      return DeleteCollectionCommand{collection.key};
    case 1:
    case 2:
      return SetCollectionStateCommand{collection.key, CollectionState::disabled};
    case 3:
    case 4:
      return SetCollectionStateCommand{collection.key, CollectionState::enabled};
    default:
      collection.sku = random_.one_in(2) ? Sku::standard : Sku::p10_premium;
      if (random_.one_in(4)) collection.state = CollectionState::suspended;
      return PutCollectionCommand{collection, {}};
  }
}

Command Chaos::job_command() {
  const JobKey key = some_job();
  if (!*simulation_.store().truth().collection(key.collection) && random_.one_in(2)) {
    JobCollection collection = Simulation::first_collection();
    collection.key = key.collection;
    return PutCollectionCommand{collection, {}};
  }
  const Instant now = simulation_.time().told();
  const auto stored = *simulation_.store().truth().job(key);
  const auto kind = random_.below(14);
  if (!stored || kind < 3) {
    const bool enabled = !random_.one_in(8);
    return PutJobCommand{key, random_definition(random_, now, rates_.taste), enabled};
  }
  if (kind == 3) return PutJobCommand{key, stored->definition, !random_.one_in(3)};
  if (kind < 7) return SetJobStateCommand{key, !random_.one_in(3)};
  if (kind < 11) {
    const std::int64_t gen = stored->gen - (random_.one_in(20) ? 1 : 0);
    const bool disables = random_.one_in(4);
    return PatchJobCommand{key, varied(random_, stored->definition, now, rates_.taste), !disables,
                           gen};
  }
  if (kind < 13) return RunJobCommand{key};
  return DeleteJobCommand{key};
}

Scenario random_scenario(Random& random) {
  const auto maybe = [&](std::uint64_t rate) {
    return random.one_in(2) ? std::uint64_t{0} : random.below(rate) + rate / 4;
  };
  Scenario scenario;
  scenario.engine = simulated_engine_options();
  scenario.engine.catch_up = static_cast<CatchUp>(random.one_in(2) ? 0 : random.below(3));
  if (random.one_in(2)) scenario.engine.agenda_max = random.below(4) + 1;
  if (random.one_in(2)) scenario.engine.start_ahead = Millis{random.between(1, 900)};
  if (random.one_in(4)) scenario.engine.in_flight_max = random.below(3) + 1;
  if (random.one_in(4)) scenario.engine.starts_per_step_max = random.below(2) + 1;
  if (random.one_in(4)) scenario.engine.history_kept = hours{random.between(2, 30)};
  if (random.one_in(4)) scenario.engine.ended_jobs_kept = hours{random.between(2, 30)};
  ChaosRates& rates = scenario.rates;
  rates.store_fault = maybe(20);
  rates.outage = maybe(200);
  rates.stall = maybe(20);
  rates.crash = maybe(20);
  rates.downtime = maybe(80);
  rates.clock_jump = maybe(100);
  rates.hold = maybe(100);
  rates.write_every = minutes{random.between(5, 240)};
  rates.jobs = static_cast<int>(random.between(1, 6));
  scenario.length = hours{random.between(12, 60)};
  return scenario;
}

}  // namespace belfry
