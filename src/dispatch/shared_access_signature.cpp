// SPDX-License-Identifier: MIT

#include "dispatch/shared_access_signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/assert.h"
#include "base/base64.h"
#include "model/url.h"

namespace belfry {
namespace {

// The key is text, also where it looks like base64.
std::string hmac_sha256(const std::string& key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const unsigned char* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                   digest.data(), &length);
  ASSERT(made != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

}  // namespace

std::string shared_access_signature(std::string_view resource, const SharedAccessKey& key,
                                    Instant expires) {
  const std::string encoded = percent_encoded(resource);
  const auto until = std::chrono::floor<Seconds>(expires).time_since_epoch().count();
  const std::string signature =
      base64_of(hmac_sha256(key.key.reveal(), fmt::format("{}\n{}", encoded, until)));
  return fmt::format("SharedAccessSignature sr={}&sig={}&se={}&skn={}", encoded,
                     percent_encoded(signature), until, percent_encoded(key.name));
}

}  // namespace belfry
