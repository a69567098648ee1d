// SPDX-License-Identifier: MIT
//
// Stopwatch measures how long something takes, whatever is done to the clock meanwhile. It is
// for measurements alone: when things happen is the Clock's.

#pragma once

#include "base/instant.h"

namespace belfry {

class Stopwatch {
 public:
  Stopwatch();  // starts
  Ticks elapsed() const;

 private:
  Ticks started_;
};

}  // namespace belfry
