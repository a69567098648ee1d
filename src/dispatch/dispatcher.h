// SPDX-License-Identifier: MIT
//
// Dispatcher performs an action once. It never blocks its caller, and reports every attempt
// that it took exactly once, within the attempt's time-out, to whom it was told to when it
// was made.

#pragma once

#include "model/attempt.h"
#include "model/job.h"

namespace belfry {

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  // The job's action in the attempt's role. False: the queue for that target is full, nothing
  // was sent and nothing will be reported.
  virtual bool send(const Attempt& attempt, const Job& job) = 0;
};

}  // namespace belfry
