// SPDX-License-Identifier: MIT
//
// HttpWaitingCalls are the calls that wait for a connection to one origin. Their owners take
// turns, and of one owner the first come goes first: a thousand calls of one delay another's
// by one. Who goes next is decided here and nowhere else.

#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/http_client_exchange.h"

namespace belfry {

class HttpWaitingCalls {
 public:
  void push(HttpExchangePtr exchange);
  bool empty() const { return turns_.empty(); }
  HttpExchangePtr pop();

  // Those whose time is over.
  std::vector<HttpExchangePtr> take_expired(SteadyTime now);

 private:
  using Queue = std::deque<HttpExchangePtr>;

  void forget_idle_owners();

  std::unordered_map<std::string, Queue> queues_;  // by owner; none is empty
  std::deque<std::string> turns_;                  // the owners of the queues, each once
  std::string served_;                             // the owner who had the last turn
};

}  // namespace belfry
