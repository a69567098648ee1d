// SPDX-License-Identifier: MIT
//
// One call on its way through the client: who waits for it, and until when.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/http_client.h"
#include "net/http_client_response.h"

namespace belfry {

// Deadlines of the network are counted on the machine's own clock: they are no business of
// the schedule's time, which may be virtual.
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

struct HttpExchange {
  // Head and body as they go over the wire, perhaps twice; none when they cannot be written.
  std::shared_ptr<const std::string> bytes;
  HttpResponseReader::Answering answering;
  HttpClient::Done done;
  std::string owner;
  std::size_t body_kept_bytes_max = 0;  // 0: the client's own limit
  SteadyTime accepted;
  SteadyTime held_until;
  SteadyTime begun;
  SteadyTime deadline;
  bool probe = false;
  bool resent = false;  // a kept connection was closed under it
};

using HttpExchangePtr = std::unique_ptr<HttpExchange>;
using HttpOutcome = std::variant<HttpReply, HttpFailure, HttpReached>;

}  // namespace belfry
