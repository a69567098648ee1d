// SPDX-License-Identifier: MIT

#include "access/jwt_verifier.h"

#include <utility>

#include "base/log.h"

namespace belfry {

Result<std::unique_ptr<JwtVerifier>> JwtVerifier::start(Options options, const Clock& clock) {
  TRY_ASSIGN(auto http, HttpClient::start(std::move(options.http)));
  return std::unique_ptr<JwtVerifier>(new JwtVerifier(std::move(options), std::move(http), clock));
}

JwtVerifier::JwtVerifier(Options options, std::unique_ptr<HttpClient> http, const Clock& clock)
    : rules_(std::move(options.rules)),
      clock_(clock),
      keys_({rules_.issuer, std::move(options.jwks_url), options.timeout}, *http, clock),
      http_(std::move(http)) {}

void JwtVerifier::verify(const std::string& token, Done done) {
  auto read = read_jwt(token);
  if (!read) return done(refusal(read.error()));
  const std::string key_id = read->key_id;
  keys_.obtain(key_id, [this, jwt = *std::move(read),
                        done = std::move(done)](const Result<JwksCache::Keys>& keys) {
    if (!keys) return done(keys.error());
    auto claims = verify_jwt(jwt, **keys, rules_, clock_.now());
    if (claims) return done(*std::move(claims));
    done(refusal(claims.error()));
  });
}

Error JwtVerifier::refusal(const Error& reason) {
  if (may_log()) log(LogLevel::info, "a bearer token was refused", {{"reason", reason.message}});
  return {ErrorCode::unauthenticated, "The token is invalid.", {}};
}

bool JwtVerifier::may_log() {
  const std::lock_guard lock(mutex_);
  const Instant minute = std::chrono::floor<std::chrono::minutes>(clock_.now());
  if (minute != minute_) logged_ = 0;
  minute_ = minute;
  return logged_++ < kRefusalsLoggedPerMinute;
}

}  // namespace belfry
