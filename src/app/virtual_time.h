// SPDX-License-Identifier: MIT
//
// VirtualTime moves a virtual clock for `belfry serve --virtual-clock`: from one instant at
// which the engine wants to act to the next, each time until everything due then has been
// sent and settled. So a year of occurrences passes in order, each at its time, and as
// quickly as the targets answer. Before the first move nothing is sent.

#pragma once

#include "app/engine_thread.h"
#include "base/clock.h"
#include "base/result.h"

namespace belfry {

inline constexpr Ticks kVirtualMoveMax = std::chrono::days{3660};

class VirtualTime {
 public:
  VirtualTime(VirtualClock& clock, EngineThread& engine) : clock_(clock), engine_(engine) {}

  // Any thread; one move at a time. An error when `to` lies before now or too far ahead.
  Result<Instant> move_to(Instant to);

 private:
  std::mutex mutex_;
  VirtualClock& clock_;
  EngineThread& engine_;
};

}  // namespace belfry
