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

  // The job's action in the attempt's role, sent as soon as `not_before` has come: the engine
  // is a little ahead of time, so that its disk makes nothing late. False: the queue for that
  // target is full, nothing was sent and nothing will be reported.
  virtual bool send(const Attempt& attempt, const Job& job, Instant not_before) = 0;
};

}  // namespace belfry
