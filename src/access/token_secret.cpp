// SPDX-License-Identifier: MIT

#include "access/token_secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/sha256.h"

namespace belfry {
namespace {

template <std::size_t N>
Result<std::string> random_hex() {
  std::array<unsigned char, N> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(N)) != 1) {
    return Error{ErrorCode::internal, "the operating system gave no random bytes for a token", {}};
  }
  return hex_of({reinterpret_cast<const char*>(bytes.data()), N});
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); });
}

}  // namespace

Result<MintedToken> mint_token() {
  TRY_ASSIGN(const std::string id, random_hex<kTokenIdBytes>());
  TRY_ASSIGN(const std::string secret, random_hex<kTokenSecretBytes>());
  MintedToken minted;
  minted.kept.id = id;
  minted.kept.secret_hash = sha256_hex(secret);
  minted.given = Secret(std::string(kTokenPrefix) + id + "_" + secret);
  return minted;
}

std::optional<TokenParts> parse_token(std::string_view text) {
  constexpr std::size_t kIdDigits = kTokenIdBytes * 2;
  constexpr std::size_t kSecretDigits = kTokenSecretBytes * 2;
  if (text.size() != kTokenPrefix.size() + kIdDigits + 1 + kSecretDigits) return std::nullopt;
  if (!text.starts_with(kTokenPrefix)) return std::nullopt;
  text.remove_prefix(kTokenPrefix.size());
  const auto id = text.substr(0, kIdDigits);
  const auto secret = text.substr(kIdDigits + 1);
  if (text[kIdDigits] != '_' || !is_hex(id) || !is_hex(secret)) return std::nullopt;
  return TokenParts{std::string(id), Secret(std::string(secret))};
}

bool proves(const Secret& secret, const Token& token) {
  const std::string hash = sha256_hex(secret.reveal());
  return hash.size() == token.secret_hash.size() &&
         CRYPTO_memcmp(hash.data(), token.secret_hash.data(), hash.size()) == 0;
}

}  // namespace belfry
