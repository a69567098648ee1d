// SPDX-License-Identifier: MIT

#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace belfry {
namespace {

constexpr std::string_view kUrlAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

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

std::optional<std::string> base64url_decoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  unsigned kept = 0;  // bits that have come and belong to no byte yet, lowest last
  int kept_bits = 0;
  for (const char c : text) {
    const std::size_t digit = kUrlAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    kept = (kept << 6 | static_cast<unsigned>(digit)) & 0xFFF;
    kept_bits += 6;
    if (kept_bits < 8) continue;
    kept_bits -= 8;
    bytes.push_back(static_cast<char>(kept >> kept_bits & 0xFF));
  }
  const bool whole = text.size() % 4 != 1 && (kept & ((1U << kept_bits) - 1)) == 0;
  if (!whole) return std::nullopt;
  return bytes;
}

std::string base64url_of(std::string_view bytes) {
  std::string text = base64_of(bytes);
  text.erase(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace belfry
