// SPDX-License-Identifier: MIT

#include "base/stopwatch.h"

#include <chrono>

namespace belfry {
namespace {

Ticks monotonic_now() {
  return std::chrono::floor<Ticks>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Stopwatch::Stopwatch() : started_(monotonic_now()) {}

Ticks Stopwatch::elapsed() const {
  return monotonic_now() - started_;
}

}  // namespace belfry
