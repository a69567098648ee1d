// SPDX-License-Identifier: MIT
//
// Simulation is the real engine in simulated time: around it a store that fails, targets that
// have moods, a clock that can be set, and a checker that sees everything. A run repeats
// exactly from its seed.

#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "engine/engine.h"
#include "tests/simulation/checker.h"
#include "tests/simulation/clerk.h"
#include "tests/simulation/faulty_store.h"
#include "tests/simulation/simulated_dispatcher.h"
#include "tests/simulation/simulated_time.h"
#include "tests/simulation/watcher.h"

namespace belfry {

struct StepFaults {
  StoreFaults store = {};
  SendFaults send = {};
  bool crash_before_reply = false;

  bool any() const;
};

// As the engine is by default, but it sweeps once an hour: a step a second would be most of
// the run.
EngineOptions simulated_engine_options();

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed, EngineOptions options = simulated_engine_options());

  // What a test asks for; each takes a step at once. Jobs are in the one collection that a
  // simulation begins with.
  Result<Reply> ask(Command command, const StepFaults& faults = {});
  Result<Reply> put(const std::string& name, const JobDefinition& definition);
  Result<Reply> patch(const std::string& name, const JobDefinition& definition,
                      bool enabled = true);
  Result<Reply> run(const std::string& name);
  Result<Reply> remove(const std::string& name);
  Result<Reply> set_state(CollectionState state);

  // Takes the steps that are due until then, without faults.
  void run_for(Ticks time);
  void run_until_next_step() { run_to(next_wake()); }
  // One step now.
  void step(const StepFaults& faults = {});
  void crash();  // and start again
  void set_clock_by(Ticks by);
  void hold_for(Ticks time) { held_until_ = time_.passed() + time; }
  void go_to(Instant passed) { time_.go_to(passed); }

  // When something happens next: the engine asked to be called, an answer arrives, or the
  // engine is no longer held.
  Instant next_wake() const;

  // Healthy targets and no faults until nothing is being tried; then judges the whole run.
  void end();

  SimulatedTime& time() { return time_; }
  SimulatedDispatcher& dispatcher() { return dispatcher_; }
  FaultyStore& store() { return store_; }
  Clerk& clerk() { return clerk_; }
  Checker& checker() { return checker_; }
  Watcher& watcher() { return watcher_; }
  const EngineOptions& options() const { return options_; }
  std::int64_t steps() const { return steps_; }

  Job stored(const std::string& name);
  std::vector<HistoryEntry> history(const std::string& name);  // oldest first
  int sends(const std::string& name, std::int64_t seq);        // accepted ones

  // Whether the engine sleeps over something is looked at after every step; in long runs, for
  // it reads all that is started, after every so many.
  void check_wake_every(std::int64_t steps) { check_wake_every_ = steps; }

  // Everything that was seen, if asked for before the run.
  void keep_record() { keeps_record_ = true; }
  const Record& record() const { return record_; }

  static JobCollection first_collection();
  static JobKey key(const std::string& name) { return {first_collection().key, name}; }

 private:
  void start_engine();
  void run_to(Instant passed);
  void see(Event event);
  void see_all(std::vector<Event> events);
  void deliver_answers();
  bool run_engine(const StepFaults& faults);
  void look_around(const StepOutcome& outcome);
  void see_sends();
  void check_wake();
  std::size_t resting_on_wire();
  void guard_against_spinning();
  bool something_is_tried();
  void audit_history();

  Random random_;
  const EngineOptions options_;
  SimulatedTime time_;
  Checker checker_;
  FaultyStore store_;
  SimulatedDispatcher dispatcher_;
  Clerk clerk_;
  Watcher watcher_;
  std::unique_ptr<Engine> engine_;

  std::int64_t steps_ = 0;
  Instant now_;   // as the engine was told in this step
  Instant wake_;  // in passed time
  Instant held_until_;
  bool was_held_ = false;  // in the last step
  Instant last_step_at_;
  int steps_at_once_ = 0;
  Instant swept_before_ = kFirstInstant;
  std::map<JobId, std::vector<std::int64_t>> sends_;  // the seqs that were accepted
  std::int64_t check_wake_every_ = 1;
  bool keeps_record_ = false;
  Record record_;
};

}  // namespace belfry
