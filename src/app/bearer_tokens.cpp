// SPDX-License-Identifier: MIT

#include "app/bearer_tokens.h"

#include <algorithm>
#include <utility>

#include "app/no_guard.h"

namespace belfry {

bool grants_everything(const OidcSettings& settings) {
  return std::ranges::any_of(settings.grants, [](const ClaimGrant& grant) {
    return grant.assignment.role == Role::owner && covers(grant.assignment.scope, Scope{});
  });
}

Result<std::unique_ptr<BearerTokens>> BearerTokens::start(const OidcSettings& settings,
                                                          HttpClient::Options http,
                                                          const Clock& clock, WorkerPool& workers) {
  http.guard = no_guard();
  JwtVerifier::Options options;
  options.issuers = settings.issuers;
  options.audiences = settings.audiences;
  options.tenant = settings.tenant;
  options.http = std::move(http);
  TRY_ASSIGN(auto verifier, JwtVerifier::start(std::move(options), clock));
  return std::unique_ptr<BearerTokens>(
      new BearerTokens(std::move(verifier), settings.grants, workers));
}

void BearerTokens::verify(const Secret& token, Verified verified) {
  verifier_->verify(token.reveal(), [this, verified = std::move(verified)](Result<Claims> claims) {
    workers_.post([this, verified, claims = std::move(claims)] {
      claims ? verified(principal_of(*claims, grants_)) : verified(claims.error());
    });
  });
}

}  // namespace belfry
