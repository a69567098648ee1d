// SPDX-License-Identifier: MIT
//
// JwtVerifier says whom a bearer token is of. It is what the gate calls: it obtains the
// issuer's keys when it has to, over a client of its own, and checks the token against them.
//
// Any thread may call. `done` is called once, at once or on the client's thread, which it must
// not block; not at all when the verifier goes meanwhile.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "access/jwks_cache.h"
#include "access/jwt.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"

namespace belfry {

class JwtVerifier {
 public:
  struct Options {
    JwtRules rules;
    std::string jwks_url;      // empty: found by asking the issuer
    Millis timeout{10'000};    // of one request to the issuer
    HttpClient::Options http;  // the operator named the issuer: the guard may be lenient
  };
  // Error: `unauthenticated`, the same words whatever is wrong, which a client may see; or
  // `unavailable` when the issuer's keys cannot be obtained.
  using Done = std::function<void(Result<Claims>)>;

  // Lines of the log about refused tokens; strangers can send as many as they like.
  static constexpr int kRefusalsLoggedPerMinute = 60;

  // The clock must outlive it, and tell the real time.
  static Result<std::unique_ptr<JwtVerifier>> start(Options options, const Clock& clock);

  void verify(const std::string& token, Done done);

 private:
  JwtVerifier(Options options, std::unique_ptr<HttpClient> http, const Clock& clock);

  Error refusal(const Error& reason);
  bool may_log();

  const JwtRules rules_;
  const Clock& clock_;
  std::mutex mutex_;  // guards the two that follow
  Instant minute_;
  int logged_ = 0;
  // In this order: the client goes before the cache that it calls.
  JwksCache keys_;
  std::unique_ptr<HttpClient> http_;
};

}  // namespace belfry
