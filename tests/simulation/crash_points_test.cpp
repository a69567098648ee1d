// SPDX-License-Identifier: MIT
//
// One short story, told again and again: at each of its steps, each thing that can go wrong
// goes wrong once. Where chance visits some places, this visits all of them.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/simulation/random_jobs.h"
#include "tests/simulation/simulation.h"

namespace belfry {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct Mishap {
  const char* name;
  StepFaults faults;
};

std::vector<Mishap> mishaps() {
  std::vector<Mishap> all;
  const auto add = [&all](const char* name) -> StepFaults& {
    return all.emplace_back(Mishap{name, {}}).faults;
  };
  add("none");
  add("commit unavailable").store.commit = CommitFault::unavailable;
  add("commit lost, not applied").store.commit = CommitFault::lost_unapplied;
  add("commit lost, applied").store.commit = CommitFault::lost_applied;
  add("crash before commit").store.commit = CommitFault::crash_before;
  add("crash after commit").store.commit = CommitFault::crash_after;
  for (int read = 0; read < 5; ++read) add("a read fails").store.failing_read = read;
  add("sweep fails").store.sweep_fails = true;
  add("store down").store.down = true;
  add("commit stalls").store.stall = seconds{45};
  for (int send = 0; send < 2; ++send) {
    add("crash before send").send.crash_before = send;
    add("crash after send").send.crash_after = send;
  }
  add("crash before reply").crash_before_reply = true;
  return all;
}

// Tells the story; `faults_at(step)` says what goes wrong in which of its steps. Returns how
// many steps it had.
int tell(Simulation& sim, const std::function<StepFaults(int)>& faults_at) {
  const JobDefinition often = with_retries(every(2, Frequency::minute), 1, seconds{20});
  const JobDefinition guarded = with_error_action(without_retries(every(3, Frequency::minute)));
  const JobKey a = Simulation::key("a"), b = Simulation::key("b");
  const CollectionKey collection = Simulation::first_collection().key;
  const Instant begin = sim.time().passed();
  const std::vector<std::pair<Ticks, std::function<Command()>>> writes = {
      {seconds{0},
       [&] {
         return PutJobCommand{a, often};
       }},
      {seconds{1},
       [&] {
         return PutJobCommand{b, guarded};
       }},
      {minutes{2}, [&] { return RunJobCommand{b}; }},
      {minutes{4},
       [&] {
         return PatchJobCommand{a, guarded, true, 1};
       }},
      {minutes{7},
       [&] {
         return SetCollectionStateCommand{collection, CollectionState::disabled};
       }},
      {minutes{8},
       [&] {
         return SetCollectionStateCommand{collection, CollectionState::enabled};
       }},
      {minutes{10},
       [&] {
         return PutJobCommand{a, often};
       }},
      {minutes{14}, [&] { return DeleteJobCommand{b}; }},
  };
  sim.dispatcher().set_moody();
  int steps = 0;
  std::size_t next = 0;
  while (sim.time().passed() < begin + minutes{16} && sim.checker().content()) {
    const Instant write_at = next < writes.size() ? begin + writes[next].first : kLastInstant;
    sim.go_to(std::min({sim.next_wake(), write_at, begin + minutes{16}}));
    if (sim.time().passed() >= write_at) sim.clerk().ask(writes[next++].second());
    sim.step(faults_at(steps++));
  }
  sim.end();
  return steps;
}

TEST(CrashPoints, NoMishapAtAnyStepLosesAnything) {
  int told = 0;
  for (const Mishap& mishap : mishaps()) {
    int steps = 1;
    for (int at = 0; at < steps && !HasFailure(); ++at) {
      Simulation sim(/*seed=*/11);
      steps = tell(sim, [&](int step) { return step == at ? mishap.faults : StepFaults{}; });
      EXPECT_TRUE(sim.checker().content())
          << mishap.name << " at step " << at << ": " << sim.checker().report();
      ++told;
    }
  }
  EXPECT_GT(told, 500);
}

}  // namespace
}  // namespace belfry
