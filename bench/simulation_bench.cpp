// SPDX-License-Identifier: MIT
//
// The long run of the simulation: sixty days of a busy server, more than a million executions,
// every one of them judged. One JSON line.

#include <fmt/format.h>

#include <chrono>

#include "tests/simulation/long_run.h"

int main() {
  using SteadyClock = std::chrono::steady_clock;
  const auto began = SteadyClock::now();
  const belfry::LongRunResult result = belfry::run_long({.days = 60, .jobs_every_minute = 2});
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
  fmt::print(
      "{{\"bench\":\"simulation\",\"case\":\"sixty_days\",\"executions\":{},\"steps\":{},"
      "\"seconds\":{:.1f},\"executions_per_second\":{:.0f},\"lost\":{}}}\n",
      result.executions, result.steps, seconds, static_cast<double>(result.executions) / seconds,
      result.faults.empty() ? 0 : 1);
  if (!result.faults.empty()) fmt::print(stderr, "{}", result.faults);
  return result.faults.empty() ? 0 : 1;
}
