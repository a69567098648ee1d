// SPDX-License-Identifier: MIT
//
// Two clocks: the time that passes, which only ever goes on, and what the engine is told it
// is, which somebody may set.

#pragma once

#include "base/instant.h"

namespace belfry {

class SimulatedTime {
 public:
  explicit SimulatedTime(Instant begin) : passed_(begin) {}

  Instant passed() const { return passed_; }
  Instant told() const { return passed_ + offset_; }
  Instant when_told(Instant told) const { return told - offset_; }

  void go_to(Instant passed) {
    if (passed > passed_) passed_ = passed;
  }
  void pass(Ticks by) { passed_ += by; }
  void set_clock_by(Ticks by) { offset_ += by; }

 private:
  Instant passed_;
  Ticks offset_{0};
};

}  // namespace belfry
