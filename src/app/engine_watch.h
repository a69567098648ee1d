// SPDX-License-Identifier: MIT
//
// EngineWatch is a thread that sees whether the engine still takes steps. A timer of the engine's
// own, or of whoever answers requests, would beat on while it hangs. When it does, /readyz says so
// and the service manager hears nothing more; a minute later the process ends: where nobody else
// watches, as in many a container, it is at least started anew.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/instant.h"

namespace belfry {

inline constexpr Millis kBeatIsOld = std::chrono::seconds{5};
inline constexpr Millis kBeatIsGivenUp = std::chrono::minutes{1};
inline constexpr Millis kWatchTick = std::chrono::seconds{1};  // a step comes at least as often

// How long the engine has been silent, by the watcher's own ticks. By no clock: while the process
// was stopped, or the machine slept, nobody watched, and nobody was silent.
class Silence {
 public:
  explicit Silence(Millis tick) : tick_(tick) {}

  // True: it has come further since the last tick.
  bool tick(std::uint64_t progress);

  // Any thread.
  Millis length() const { return tick_ * ticks_.load(); }

 private:
  const Millis tick_;
  std::uint64_t seen_ = 0;
  std::atomic<int> ticks_ = 0;
};

class EngineWatch {
 public:
  struct Options {
    std::function<std::uint64_t()> progress;  // of the engine; another number than before: it beat
    std::function<void()> on_beat;            // at each tick that sees a step
    std::function<void()> on_giving_up;
    Millis tick = kWatchTick;
    Millis given_up_after = kBeatIsGivenUp;
  };

  explicit EngineWatch(Options options);
  ~EngineWatch() { end(); }

  void end();

  // Any thread. Why the engine is not to be relied on; empty while it is.
  std::string trouble() const;

 private:
  void run();
  void look();

  const Options options_;
  Silence silence_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace belfry
