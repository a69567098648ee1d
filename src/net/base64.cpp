// SPDX-License-Identifier: MIT

#include "net/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace belfry {

std::string base64_of(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL writes
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string packed;
  for (const char c : text) {
    if (c != '\r' && c != '\n' && c != ' ' && c != '\t') packed.push_back(c);
  }
  if (packed.empty() || packed.size() % 4 != 0) return std::nullopt;
  std::string bytes(packed.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(packed.data()),
                                     static_cast<int>(packed.size()));
  if (length < 0) return std::nullopt;
  const std::size_t padding = packed.size() - packed.find_last_not_of('=') - 1;
  bytes.resize(static_cast<std::size_t>(length) - std::min<std::size_t>(padding, 2));
  return bytes;
}

}  // namespace belfry
