// SPDX-License-Identifier: MIT
//
// What `--auth oidc` adds to a server's own tokens: bearer tokens of the issuers that the
// operator named, checked with the issuers' keys, and what their claims entitle to.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "access/jwt_verifier.h"
#include "api/claim_grants.h"
#include "api/gate.h"
#include "api/worker_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"

namespace belfry {

struct OidcSettings {
  std::vector<JwtIssuer> issuers;
  std::vector<std::string> audiences;
  std::string tenant;  // empty: not asked for
  std::vector<ClaimGrant> grants;
};

// Some token may own everything: nobody needs one of ours to begin with.
bool grants_everything(const OidcSettings& settings);

class BearerTokens {
 public:
  // Issuers are called over a client of its own, at whatever address they are: the operator
  // named them. All must outlive it; the clock tells the real time.
  static Result<std::unique_ptr<BearerTokens>> start(const OidcSettings& settings,
                                                     HttpClient::Options http, const Clock& clock,
                                                     WorkerPool& workers);

  // For the gate; answers on a worker.
  void verify(const Secret& token, Verified verified);

  // Before the workers finish: who still waits for an issuer is not answered.
  void stop() { verifier_->stop(); }

 private:
  BearerTokens(std::unique_ptr<JwtVerifier> verifier, std::vector<ClaimGrant> grants,
               WorkerPool& workers)
      : verifier_(std::move(verifier)), grants_(std::move(grants)), workers_(workers) {}

  std::unique_ptr<JwtVerifier> verifier_;
  const std::vector<ClaimGrant> grants_;
  WorkerPool& workers_;
};

}  // namespace belfry
