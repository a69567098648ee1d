// SPDX-License-Identifier: MIT
//
// HttpOriginPool is everything the client has for one origin: its connections, idle and in
// use, and the calls that wait for one. Lives on its loop's thread.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "net/http_client_admission.h"
#include "net/http_client_connection.h"
#include "net/http_client_exchange.h"
#include "net/http_client_waiting.h"

namespace belfry {

class HttpClientLoop;

struct HttpOriginKey {
  HttpOrigin origin;
  std::shared_ptr<const TlsClient> tls;
  std::shared_ptr<const HttpProxy> proxy;  // none: called directly

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

  // The next of those who wait, if there is a connection for it.
  void begin_next();

  void check_deadlines(SteadyTime now);

  // Nobody holds it and nobody will come back to it.
  bool unused() const { return taken.calls == 0 && connections_.empty() && turns_posted_ == 0; }

  HttpClientLoop& loop() { return loop_; }
  const HttpClient::Options& options() const;
  const HttpOrigin& origin() const { return key_.origin; }
  const TlsClient& tls() const { return *key_.tls; }
  const HttpProxy* proxy() const { return key_.proxy.get(); }

  HttpAdmission::Origin taken;  // the loop's mutex guards it

 private:
  void dial(HttpExchangePtr exchange);
  void reuse(HttpExchangePtr exchange);
  void post_turn();

  HttpClientLoop& loop_;
  HttpOriginKey key_;
  HttpWaitingCalls waiting_;
  std::size_t turns_posted_ = 0;
  std::vector<std::shared_ptr<HttpClientConnection>> connections_;
  std::vector<HttpClientConnection*> idle_;  // the last used last, and used first
};

}  // namespace belfry
