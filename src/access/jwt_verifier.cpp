// SPDX-License-Identifier: MIT

#include "access/jwt_verifier.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace belfry {

Result<std::unique_ptr<JwtVerifier>> JwtVerifier::start(Options options, const Clock& clock) {
  TRY_ASSIGN(auto http, HttpClient::start(std::move(options.http)));
  return std::unique_ptr<JwtVerifier>(new JwtVerifier(std::move(options), std::move(http), clock));
}

JwtVerifier::JwtVerifier(Options options, std::unique_ptr<HttpClient> http, const Clock& clock)
    : clock_(clock), http_(std::move(http)) {
  for (const JwtIssuer& issuer : options.issuers) {
    issuers_.emplace_back(
        new Issuer{{issuer.name, options.audiences, options.tenant},
                   JwksCache({issuer.name, issuer.jwks_url, options.timeout}, *http_, clock)});
  }
}

JwtVerifier::Issuer* JwtVerifier::issuer_of(const Jwt& token) {
  const auto named = claimed_issuer(token);
  const auto found = std::ranges::find_if(
      issuers_, [&](const auto& issuer) { return named == issuer->rules.issuer; });
  return found == issuers_.end() ? nullptr : found->get();
}

void JwtVerifier::verify(const std::string& token, Done done) {
  auto read = read_jwt(token);
  if (!read) return done(refusal(read.error()));
  Issuer* const issuer = issuer_of(*read);
  if (issuer == nullptr) {
    return done(refusal({ErrorCode::unauthenticated, "it is of another issuer", {}}));
  }
  const std::string key_id = read->key_id;
  issuer->keys.obtain(key_id, [this, issuer, jwt = *std::move(read),
                               done = std::move(done)](const Result<JwksCache::Keys>& keys) {
    if (!keys) return done(keys.error());
    auto claims = verify_jwt(jwt, **keys, issuer->rules, clock_.now());
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
