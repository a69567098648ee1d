// SPDX-License-Identifier: MIT

#include "net/http_client_waiting.h"

#include "base/assert.h"

namespace belfry {

void HttpWaitingCalls::push(HttpExchangePtr exchange) {
  Queue& queue = queues_[exchange->owner];
  if (queue.empty()) turns_.push_back(exchange->owner);
  queue.push_back(std::move(exchange));
}

// The owner who had the last turn stays in front until the next one: whoever comes meanwhile
// goes before their next call, and after everybody else's.
HttpExchangePtr HttpWaitingCalls::pop() {
  ASSERT(!turns_.empty());
  if (turns_.front() == served_) {
    turns_.push_back(std::move(turns_.front()));
    turns_.pop_front();
  }
  served_ = turns_.front();
  Queue& queue = queues_.at(served_);
  HttpExchangePtr first = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(served_);
    turns_.pop_front();
  }
  return first;
}

std::vector<HttpExchangePtr> HttpWaitingCalls::take_expired(SteadyTime now) {
  std::vector<HttpExchangePtr> taken;
  for (auto& [owner, queue] : queues_) {
    for (HttpExchangePtr& exchange : queue) {
      if (exchange->deadline <= now) taken.push_back(std::move(exchange));
    }
    std::erase_if(queue, [](const HttpExchangePtr& exchange) { return exchange == nullptr; });
  }
  if (!taken.empty()) forget_idle_owners();
  return taken;
}

void HttpWaitingCalls::forget_idle_owners() {
  std::erase_if(turns_, [this](const std::string& owner) { return queues_.at(owner).empty(); });
  std::erase_if(queues_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace belfry
