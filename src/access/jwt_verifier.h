// SPDX-License-Identifier: MIT
//
// JwtVerifier says whom a bearer token is of: it obtains the keys of the token's issuer when it
// has to, over a client of its own, and checks the token against them. Issuers do not wait for
// one another, and a token of an issuer that was not named is refused without a question to
// anybody.
//
// Any thread may call. `done` is called once, at once or on the client's thread, which it must
// not block; not at all when the verifier is stopped meanwhile.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "access/jwks_cache.h"
#include "access/jwt.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"

namespace belfry {

struct JwtIssuer {
  std::string name;      // as the claim iss has it
  std::string jwks_url;  // empty: found by asking the issuer
};

class JwtVerifier {
 public:
  struct Options {
    std::vector<JwtIssuer> issuers;
    std::vector<std::string> audiences;  // one of them must be named
    std::string tenant;                  // empty: not asked for
    Millis timeout{10'000};              // of one request to an issuer
    HttpClient::Options http;            // the operator named the issuers: the guard may be lenient
  };
  // Error: `unauthenticated`, the same words whatever is wrong, which a client may see; or
  // `unavailable` when the issuer's keys cannot be obtained.
  using Done = std::function<void(Result<Claims>)>;

  // Lines of the log about refused tokens; strangers can send as many as they like.
  static constexpr int kRefusalsLoggedPerMinute = 60;

  // The clock must outlive it, and tell the real time.
  static Result<std::unique_ptr<JwtVerifier>> start(Options options, const Clock& clock);

  void verify(const std::string& token, Done done);

  // Who waits for keys is not answered any more; keys that are there go on being used.
  void stop() { http_->stop(); }

 private:
  struct Issuer {
    JwtRules rules;
    JwksCache keys;
  };

  JwtVerifier(Options options, std::unique_ptr<HttpClient> http, const Clock& clock);

  Issuer* issuer_of(const Jwt& token);
  Error refusal(const Error& reason);
  bool may_log();

  const Clock& clock_;
  std::mutex mutex_;  // guards the two that follow
  Instant minute_;
  int logged_ = 0;
  // In this order: the client goes before the caches that it calls.
  std::vector<std::unique_ptr<Issuer>> issuers_;
  std::unique_ptr<HttpClient> http_;
};

}  // namespace belfry
