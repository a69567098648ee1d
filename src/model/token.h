// SPDX-License-Identifier: MIT
//
// Token is what is kept of an access token: who it stands for, what it may do, and how it is
// recognised. The token itself is known to its bearer alone.

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/instant.h"
#include "model/role.h"

namespace belfry {

inline constexpr std::size_t kTokenNameBytesMax = 100;
inline constexpr std::size_t kTokensMax = 10'000;

struct Token {
  std::string id;
  std::string name;         // for people; need not be unique
  std::string secret_hash;  // SHA-256 of its secret part, in hexadecimal
  Assignments assignments;
  Instant created;
  std::optional<Instant> expires;  // none: it does not
  std::optional<Instant> revoked;
};

inline bool usable(const Token& token, Instant now) {
  return !token.revoked && (!token.expires || now < *token.expires);
}

}  // namespace belfry
