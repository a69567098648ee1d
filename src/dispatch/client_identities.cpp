// SPDX-License-Identifier: MIT

#include "dispatch/client_identities.h"

#include <openssl/sha.h>

#include <array>

namespace belfry {
namespace {

// A digest: shorter, and no secret.
std::string identity_key(const std::string& pfx) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(pfx.data()), pfx.size(), digest.data());
  return {digest.begin(), digest.end()};
}

}  // namespace

Result<std::shared_ptr<const TlsClient>> ClientIdentities::of(
    const ClientCertificate& certificate) {
  const std::string& pfx = certificate.pfx.reveal();
  const std::string key = identity_key(pfx);
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  TRY_ASSIGN(auto identity, anybody_->as(pfx));
  // All are read anew rather than one chosen to go: this is rarer than it is worth.
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_.emplace(key, identity);
  return identity;
}

}  // namespace belfry
