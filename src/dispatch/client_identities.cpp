// SPDX-License-Identifier: MIT

#include "dispatch/client_identities.h"

#include <openssl/sha.h>

#include <array>

#include "net/pfx.h"

namespace belfry {
namespace {

// A digest, so that secrets are not kept a second time.
std::string identity_key(const ClientCertificate& certificate) {
  const std::string both = certificate.pfx.reveal() + '\0' + certificate.password.reveal();
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(both.data()), both.size(), digest.data());
  return {digest.begin(), digest.end()};
}

}  // namespace

Result<std::shared_ptr<const TlsClient>> ClientIdentities::of(
    const ClientCertificate& certificate) {
  const std::string key = identity_key(certificate);
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  const auto pfx = Pfx::open(certificate.pfx.reveal(), certificate.password.reveal());
  if (!pfx) {
    return Error{ErrorCode::invalid, "The client certificate (pfx) " + pfx.error().message, {}};
  }
  TRY_ASSIGN(auto identity, anybody_->as(*pfx));
  // All are opened anew rather than one chosen to go: this is rarer than it is worth.
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_.emplace(key, identity);
  return identity;
}

}  // namespace belfry
