// SPDX-License-Identifier: MIT

#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "base/hex.h"

namespace belfry {

std::string sha256_hex(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  ASSERT(EVP_Digest(text.data(), text.size(), hash.data(), &length, EVP_sha256(), nullptr) == 1);
  return hex_of({reinterpret_cast<const char*>(hash.data()), length});
}

}  // namespace belfry
