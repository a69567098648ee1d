// SPDX-License-Identifier: MIT

#include "net/http_basic.h"

#include <openssl/evp.h>

namespace belfry {
namespace {

std::string base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

std::string basic_credentials(std::string_view user, std::string_view password) {
  return "Basic " + base64(std::string(user).append(":").append(password));
}

}  // namespace belfry
