// SPDX-License-Identifier: MIT
//
// HttpWaitingCalls are the calls that wait for a connection to one origin. Their owners take
// turns (base/turns.h).

#pragma once

#include <utility>
#include <vector>

#include "base/turns.h"
#include "net/http_client_exchange.h"

namespace belfry {

class HttpWaitingCalls {
 public:
  void push(HttpExchangePtr exchange) {
    const std::string& owner = exchange->owner;  // it lives as long as what is pushed
    calls_.push(owner, std::move(exchange));
  }
  bool empty() const { return calls_.empty(); }
  HttpExchangePtr pop() { return calls_.pop(); }

  // Those whose time is over.
  std::vector<HttpExchangePtr> take_expired(SteadyTime now) {
    return calls_.take_if([now](const HttpExchangePtr& call) { return call->deadline <= now; });
  }

 private:
  Turns<HttpExchangePtr> calls_;
};

}  // namespace belfry
