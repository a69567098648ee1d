// SPDX-License-Identifier: MIT
//
// Any bytes as a client certificate: refused with a reason, or opened into one that says
// something of itself, and soon.

#include <openssl/evp.h>

#include <cstdint>
#include <string>

#include "base/assert.h"
#include "net/pfx.h"

namespace belfry {
namespace {

void check(const std::string& base64) {
  for (const char* password : {"", "open-sesame"}) {
    const auto pfx = Pfx::open(base64, password);
    if (!pfx) {
      ASSERT(!pfx.error().message.empty());
      continue;
    }
    ASSERT(pfx->facts().thumbprint.size() == 40);
    const auto again = Pfx::read(pfx->kept());
    ASSERT(again && again->facts() == pfx->facts() && again->kept() == pfx->kept());
  }
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string base64((size + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()), data,
                                     static_cast<int>(size));
  base64.resize(static_cast<std::size_t>(length));
  belfry::check(base64);
  return 0;
}
