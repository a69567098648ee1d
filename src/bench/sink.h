// SPDX-License-Identifier: MIT
//
// Sink is a target for jobs that writes down when each call came, and how late that was by its
// `x-ms-scheduler-expected-execution-time`. While calls come it does as little as it can: what it
// was told is read when somebody asks, and who waits is woken once.

#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/tiny_server.h"

namespace belfry {

// Times are seconds since 1970.
struct Arrivals {
  std::int64_t count = 0;
  double first = 0;
  double last = 0;
  std::vector<double> late_seconds;  // of calls that said when they were due

  std::int64_t early() const;
};

double seconds_since_1970();

class Sink {
 public:
  Sink();
  ~Sink();

  std::uint16_t port() const { return server_.port(); }

  // Blocks until so many calls have come, at most for `seconds`. Whether they have.
  bool wait_for(std::int64_t count, double seconds);

  // What came since the last take, and forgets it.
  Arrivals take();

 private:
  // A call that said when it was due, in the letters of its header.
  struct Timed {
    double came = 0;
    std::array<char, 32> due{};  // ends with a 0
  };

  void note(const std::vector<std::string_view>& requests);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::int64_t wanted_ = 0;  // who waits, waits for so many
  Arrivals arrivals_;
  std::vector<Timed> timed_;  // in place of late_seconds, until they are asked for
  TinyServer server_;
  std::thread thread_;
};

}  // namespace belfry
