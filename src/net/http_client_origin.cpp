// SPDX-License-Identifier: MIT

#include "net/http_client_origin.h"

#include <boost/asio/post.hpp>

#include "net/http_client_loop.h"

namespace belfry {

const HttpClient::Options& HttpOriginPool::options() const {
  return loop_.options();
}

void HttpOriginPool::submit(HttpExchangePtr exchange) {
  if (exchange->probe) return dial(std::move(exchange));
  waiting_.push(std::move(exchange));
  begin_next();
}

void HttpOriginPool::begin_next() {
  if (waiting_.empty()) return;
  if (!idle_.empty()) return reuse(waiting_.pop());
  if (connections_.size() < options().limits.connections_per_origin_max) dial(waiting_.pop());
}

void HttpOriginPool::resend(HttpExchangePtr exchange) {
  dial(std::move(exchange));
}

void HttpOriginPool::dial(HttpExchangePtr exchange) {
  if (!exchange->resent) exchange->begun = SteadyClock::now();
  const auto connection = std::make_shared<HttpClientConnection>(*this, loop_.context());
  connections_.push_back(connection);
  connection->dial(std::move(exchange));
}

void HttpOriginPool::reuse(HttpExchangePtr exchange) {
  exchange->begun = SteadyClock::now();
  HttpClientConnection* connection = idle_.back();
  idle_.pop_back();
  loop_.idle_changed(-1);
  connection->carry(std::move(exchange));
}

void HttpOriginPool::on_idle(HttpClientConnection& connection) {
  if (!waiting_.empty()) {
    HttpExchangePtr exchange = waiting_.pop();
    exchange->begun = SteadyClock::now();
    return connection.carry(std::move(exchange));
  }
  if (!loop_.idle_has_room()) return connection.close();
  idle_.push_back(&connection);
  loop_.idle_changed(+1);
}

void HttpOriginPool::on_closed(HttpClientConnection& connection) {
  const auto is_it = [&](const auto& other) { return &*other == &connection; };
  if (std::erase_if(idle_, is_it) > 0) loop_.idle_changed(-1);
  std::erase_if(connections_, is_it);
  post_turn();
}

// Not straight from here: a connection that fails at once would lead to the next one from
// inside its own end, a thousand times over.
void HttpOriginPool::post_turn() {
  if (waiting_.empty()) return;
  ++turns_posted_;
  boost::asio::post(loop_.context(), [this] {
    --turns_posted_;
    begin_next();
  });
}

void HttpOriginPool::finish(HttpExchangePtr exchange, HttpOutcome outcome) {
  loop_.finish(*this, std::move(exchange), std::move(outcome));
}

void HttpOriginPool::check_deadlines(SteadyTime now) {
  for (HttpExchangePtr& exchange : waiting_.take_expired(now)) {
    exchange->begun = now;
    finish(std::move(exchange),
           HttpFailure{HttpFailureKind::timeout, "it waited for other calls to the same host"});
  }
  const auto connections = connections_;  // some will leave while they are asked
  for (const auto& connection : connections) connection->check_deadlines(now);
}

}  // namespace belfry
