// SPDX-License-Identifier: MIT
//
// Weeks of a busy server in one run: jobs of every kind and pace, users who change them, now
// and then a fault. Judged step by step like any other simulation.

#pragma once

#include <cstdint>
#include <string>

namespace belfry {

struct LongRun {
  int days = 60;
  int jobs_every_minute = 2;  // and many times as many slower ones
};

struct LongRunResult {
  std::int64_t executions = 0;
  std::int64_t steps = 0;
  std::string faults;  // empty: none
};

LongRunResult run_long(const LongRun& run);

}  // namespace belfry
