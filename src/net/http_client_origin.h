// SPDX-License-Identifier: MIT
//
// HttpOriginPool is everything the client has for one origin: its connections, idle and in
// use, and the calls that wait for one. Lives on its loop's thread.

#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "net/http_client_connection.h"
#include "net/http_client_exchange.h"

namespace belfry {

class HttpClientLoop;

// The calls that wait for a connection, the first come first. Who goes first when several
// owners of jobs share an origin is decided here and nowhere else.
class HttpWaitingCalls {
 public:
  void push(HttpExchangePtr exchange) { waiting_.push_back(std::move(exchange)); }
  bool empty() const { return waiting_.empty(); }
  HttpExchangePtr pop();

  // Those whose time is over.
  std::vector<HttpExchangePtr> take_expired(SteadyTime now);

 private:
  std::deque<HttpExchangePtr> waiting_;
};

struct HttpOriginKey {
  HttpOrigin origin;
  std::shared_ptr<const TlsClient> tls;

  bool operator==(const HttpOriginKey&) const = default;
};

class HttpOriginPool {
 public:
  HttpOriginPool(HttpClientLoop& loop, HttpOriginKey key) : loop_(loop), key_(std::move(key)) {}

  void submit(HttpExchangePtr exchange);

  // On a new connection: a kept one has just failed it.
  void resend(HttpExchangePtr exchange);

  // What connections tell.
  void on_idle(HttpClientConnection& connection);
  void on_closed(HttpClientConnection& connection);
  void finish(HttpExchangePtr exchange, HttpOutcome outcome);

  void check_deadlines(SteadyTime now);
  bool empty() const { return connections_.empty() && waiting_.empty(); }

  HttpClientLoop& loop() { return loop_; }
  const HttpClient::Options& options() const;
  const HttpOrigin& origin() const { return key_.origin; }
  const TlsClient& tls() const { return *key_.tls; }

  // Calls accepted for this origin and not finished; the loop's mutex guards it.
  std::size_t admitted = 0;

 private:
  void dial(HttpExchangePtr exchange);
  void reuse(HttpExchangePtr exchange);
  void fill();

  HttpClientLoop& loop_;
  HttpOriginKey key_;
  HttpWaitingCalls waiting_;
  std::vector<std::shared_ptr<HttpClientConnection>> connections_;
  std::vector<HttpClientConnection*> idle_;  // the last used last, and used first
};

}  // namespace belfry
