// SPDX-License-Identifier: MIT
//
// Load sends requests to an HTTP server on this machine, over so many connections, each sending
// its next request when the last one was answered: raw epoll in one thread, so that what is
// measured is the server.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/instant.h"

namespace belfry {

struct LoadOptions {
  std::uint16_t port = 0;  // on 127.0.0.1
  int connections = 1;
  std::int64_t requests = 0;  // 0: as many as `duration` has room for
  Millis duration{};
};

struct LoadResult {
  std::int64_t answered = 0;
  std::int64_t refused = 0;   // not 2xx
  std::string first_refusal;  // an answer, for whoever has to find out why
  std::int64_t bytes = 0;     // of all answers, heads included
  double seconds = 0;
  std::vector<double> latencies_ms = {};

  double per_second() const { return static_cast<double>(answered) / seconds; }
};

// `request` gives the n-th request, counted from 0, with all its bytes.
LoadResult run_load(const LoadOptions& options,
                    const std::function<std::string(std::int64_t n)>& request);

// A request's bytes.
std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body, const std::string& token = "");

// One request, and the body of its answer.
struct Answer {
  int status = 0;
  std::string body;
};
Answer ask_once(std::uint16_t port, const std::string& request);

}  // namespace belfry
