// SPDX-License-Identifier: MIT
//
// EngineThread calls Engine::step() when it asks to be called, and at least once a second.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "engine/engine.h"

namespace belfry {

// How long the thread may wait where the engine asks to be called at `next`: until then and no
// longer, so that nothing is late; and not for long, since the clock may be put forward.
Ticks patience_until(Instant next, Instant now);

// When jobs may be begun: from the start on, once somebody says so, or not at all.
enum class Starts { at_once, when_told, never };

class EngineThread {
 public:
  EngineThread(Engine& engine, const Clock& clock, Starts starts = Starts::at_once);
  ~EngineThread();  // ends

  // Returns after the step that is under way; there is no further one.
  void end();

  // What was to wait for this word begins.
  void start_starting();

  // From now on nothing new is begun; what is on the wire is still settled.
  void stop_starting() { stopping_ = true; }

  // Blocks until a step that began after this call has left nothing to do at the present
  // time and nothing on the wire. Returns when the engine wants to act next.
  Instant wait_until_idle();

  // The same, and all that is too old by now is removed.
  void sweep_all();

  // Grows at least once a second, unless a step does not come back.
  std::uint64_t steps_done() const;
  std::size_t in_flight() const;

  // Blocks until nothing is on the wire, at most for `patience`.
  void wait_until_settled(Millis patience);

 private:
  struct Progress {
    std::uint64_t steps_begun = 0;
    std::uint64_t steps_done = 0;
    std::size_t in_flight = 0;
    bool idle = false;
    Instant next;
  };

  void run();
  Instant step();

  Engine& engine_;
  const Clock& clock_;
  std::atomic<bool> ending_ = false;
  std::atomic<Starts> starts_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> sweep_wanted_ = false;
  mutable std::mutex mutex_;
  std::condition_variable stepped_;
  Progress progress_;
  std::thread thread_;
};

}  // namespace belfry
