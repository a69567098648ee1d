// SPDX-License-Identifier: MIT
//
// The sink of `belfry bench` as a program, so that peers are measured by the very same target.
//
// sink: prints its port. "wait N" on standard input prints, when N calls have come, one JSON
// line of what came since the last time; end of input ends it.

#include "bench/sink.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "bench/figures.h"

namespace {

constexpr double kWaitSeconds = 600;

void print(const belfry::Arrivals& seen) {
  const auto late_ms = [&](double part) {
    return 1000 * belfry::quantile(seen.late_seconds, part);
  };
  fmt::print(
      "{{\"count\":{},\"first\":{:.6f},\"last\":{:.6f},\"early\":{},\"late_ms_p50\":{:.3f},"
      "\"late_ms_p99\":{:.3f},\"late_ms_max\":{:.3f}}}\n",
      seen.count, seen.first, seen.last, seen.early(), late_ms(0.5), late_ms(0.99), late_ms(1));
}

}  // namespace

int main() {
  belfry::Sink sink;
  fmt::print("{}\n", sink.port());
  std::fflush(stdout);
  std::string word;
  std::int64_t count = 0;
  while (std::cin >> word >> count) {
    sink.wait_for(count, kWaitSeconds);
    print(sink.take());
    std::fflush(stdout);
  }
}
