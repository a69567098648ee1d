// SPDX-License-Identifier: MIT
//
// PreflightRunner makes the request of an action, shows it with its secrets masked, obtains
// the token, opens the certificate, and goes as far as the target's door: resolve, check,
// connect, TLS. Nothing is sent to the target.

#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "dispatch/oauth_tokens.h"
#include "model/attempt.h"
#include "model/preflight.h"
#include "net/http_client.h"

namespace belfry {

// Stands for the method of what goes to a broker of AMQP.
inline constexpr char kAmqpPreflightMethod[] = "AMQP";

class PreflightRunner {
 public:
  using Done = std::function<void(Preflight)>;
  // What an attempt would send, but for certificate and token. From any thread.
  using Render = std::function<Result<HttpCall>(const Attempt&, const Job&)>;

  // Everything must outlive it; `clock` is real time, by which certificates expire. Held, it
  // connects to nobody.
  PreflightRunner(Render render, HttpClient& http, OAuthTokens& tokens,
                  std::shared_ptr<const TlsClient> anybody, const Clock& clock, bool held)
      : render_(std::move(render)),
        http_(http),
        tokens_(tokens),
        anybody_(std::move(anybody)),
        clock_(clock),
        held_(held) {}

  // From any thread. `done` is called once, here or on a thread of the client's, unless the
  // client is stopped before.
  void run(const Job& job, ActionRole role, Millis timeout, Done done);

 private:
  struct Flight;
  using FlightPtr = std::shared_ptr<Flight>;

  bool check_certificate(Flight& flight, const ClientCertificate& certificate);
  void obtain_token(const FlightPtr& flight, const ActiveDirectoryOAuth& who);
  void probe(const FlightPtr& flight);

  const Render render_;
  HttpClient& http_;
  OAuthTokens& tokens_;
  const std::shared_ptr<const TlsClient> anybody_;
  const Clock& clock_;
  const bool held_;
};

}  // namespace belfry
