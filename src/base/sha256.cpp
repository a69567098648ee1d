// SPDX-License-Identifier: MIT

#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "base/hex.h"

namespace belfry {

namespace {

// OpenSSL searches its providers for a name each time it is asked by name: so it is asked once.
const EVP_MD* sha256() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  ASSERT(found != nullptr);
  return found;
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  ASSERT(EVP_Digest(text.data(), text.size(), hash.data(), &length, sha256(), nullptr) == 1);
  return hex_of({reinterpret_cast<const char*>(hash.data()), length});
}

}  // namespace belfry
