// SPDX-License-Identifier: MIT
//
// The long run of the simulation: sixty days of a busy server, more than a million executions,
// every one of them judged. One JSON line.

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "tests/simulation/long_run.h"

int main() {
  using SteadyClock = std::chrono::steady_clock;
  constexpr double kSecondsMax = 30;
  const auto began = SteadyClock::now();
  const belfry::LongRunResult result = belfry::run_long({.days = 60, .jobs_every_minute = 1});
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
  // The processor's time: what others do on this machine does not count.
  const double cpu_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const bool content = result.faults.empty();
  fmt::print(
      "{{\"bench\":\"simulation\",\"case\":\"sixty days\",\"executions\":{},\"steps\":{},"
      "\"seconds\":{:.1f},\"cpu_seconds\":{:.1f},\"content\":{},\"met\":{}}}\n",
      result.executions, result.steps, seconds, cpu_seconds, content,
      content && result.executions >= 1'000'000 && cpu_seconds < kSecondsMax);
  if (!content) fmt::print(stderr, "{}", result.faults);
  return content ? 0 : 1;
}
