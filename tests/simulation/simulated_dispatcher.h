// SPDX-License-Identifier: MIT
//
// SimulatedDispatcher answers what it is given after a while of simulated time, as the mood
// of each job's target has it: well, badly, slowly, not before the time-out, or by a queue
// that is full. What was on the wire when the process died is answered to nobody.

#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "dispatch/dispatcher.h"
#include "store/memory_store.h"
#include "tests/simulation/faulty_store.h"
#include "tests/simulation/record.h"
#include "tests/simulation/simulated_time.h"

namespace belfry {

inline constexpr Ticks kAttemptTimeout = std::chrono::seconds{60};

enum class Mood { healthy, flaky, failing, slow, hanging, full };

// The process dies at the n-th send of the step, before or after the target got it.
struct SendFaults {
  std::optional<int> crash_before = std::nullopt;
  std::optional<int> crash_after = std::nullopt;
};

class SimulatedDispatcher final : public Dispatcher {
 public:
  SimulatedDispatcher(Random random, SimulatedTime& time, MemoryStore& store)
      : random_(random), time_(time), store_(store) {}

  bool send(const Attempt& attempt, const Job& job, Instant not_before) override;

  void begin_step(const SendFaults& faults);
  const std::vector<std::pair<JobId, Sent>>& sends() const { return sends_; }  // of this step

  std::optional<Instant> next_answer() const;
  std::vector<Answered> take_answers();  // those that have arrived by now
  bool on_wire(const Attempt& attempt) const;
  void lose_all() { wire_.clear(); }

  void set_mood(JobId job, Mood mood) { moods_[job] = mood; }
  // Each target has a mood of its own, and it changes.
  void set_moody() { moody_ = true; }
  void set_healthy() {
    moody_ = false;
    moods_.clear();
  }
  std::int64_t accepted() const { return accepted_; }

 private:
  Mood mood_of(JobId job);
  void put_on_wire(const Attempt& attempt, Mood mood, Ticks hold);
  Ticks latency(Mood mood);
  bool succeeds(Mood mood);

  Random random_;
  SimulatedTime& time_;
  MemoryStore& store_;
  SendFaults faults_;
  bool moody_ = false;
  std::map<JobId, Mood> moods_;
  std::multimap<Instant, Answered> wire_;  // by when the answer arrives
  std::vector<std::pair<JobId, Sent>> sends_;
  std::int64_t accepted_ = 0;
};

}  // namespace belfry
