// SPDX-License-Identifier: MIT
//
// One call on its way through the client: who waits for it, and until when.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/http_client.h"

namespace belfry {

// Deadlines of the network are counted on the machine's own clock: they are no business of
// the schedule's time, which may be virtual.
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

struct HttpExchange {
  HttpCall call;  // until it is rendered; then only what `bytes` do not say
  HttpClient::Done done;
  SteadyTime accepted;
  SteadyTime begun;
  SteadyTime deadline;
  std::shared_ptr<const std::string> bytes;  // as they go over the wire, perhaps twice
  bool resent = false;                       // a kept connection was closed under it

  HttpExchange(HttpCall asked, HttpClient::Done when_done)
      : call(std::move(asked)),
        done(std::move(when_done)),
        accepted(SteadyClock::now()),
        begun(accepted),
        deadline(accepted + call.timeout) {}
};

using HttpExchangePtr = std::unique_ptr<HttpExchange>;
using HttpOutcome = std::variant<HttpReply, HttpFailure>;

}  // namespace belfry
