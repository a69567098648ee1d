// SPDX-License-Identifier: MIT
//
// JwtKeys are an issuer's public keys, as it publishes them (a JWK Set, RFC 7517). What Belfry
// cannot or will not use is left out: keys for encryption, of other kinds, too short, off their
// curve. A key knows the one algorithm it is good for, so that a token cannot choose another.
//
// A key's id is a text that is compared, and nothing else: it names no file, row or address.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;

namespace belfry {

inline constexpr std::size_t kJwksBytesMax = 256 * 1024;
inline constexpr std::size_t kJwksKeysMax = 100;
inline constexpr int kRsaBitsMin = 2048;
inline constexpr int kRsaBitsMax = 8192;

enum class JwtAlgorithm { rs256, es256 };

struct JwtKey {
  std::string id;
  JwtAlgorithm algorithm{};
  std::shared_ptr<evp_pkey_st> key;
};

class JwtKeys {
 public:
  // Error: the text is no set of keys, or none of them can be used.
  static Result<JwtKeys> parse(std::string_view text);

  // None where no key has that id. A token that names no key means the only one there is.
  const JwtKey* find(std::string_view id) const;

  std::size_t size() const { return keys_.size(); }

 private:
  explicit JwtKeys(std::vector<JwtKey> keys) : keys_(std::move(keys)) {}

  std::vector<JwtKey> keys_;
};

}  // namespace belfry
