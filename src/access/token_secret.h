// SPDX-License-Identifier: MIT
//
// Access tokens as their bearers hold them: belfry_<id>_<secret>. The id finds the token, the
// secret proves it: 256 bits of chance, of which only a hash is kept. Nobody guesses such a
// secret, so a plain SHA-256 is as good as a slow hash, and every request can be checked.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/secret.h"
#include "model/token.h"

namespace belfry {

inline constexpr std::string_view kTokenPrefix = "belfry_";
inline constexpr std::size_t kTokenIdBytes = 8;
inline constexpr std::size_t kTokenSecretBytes = 32;

struct MintedToken {
  Token kept;    // but its name, its rights and its times
  Secret given;  // the whole text, shown once
};

// Fails only where the operating system has no chance to give.
Result<MintedToken> mint_token();

// The parts of a text that has the form of a token.
struct TokenParts {
  std::string id;
  Secret secret;
};
std::optional<TokenParts> parse_token(std::string_view text);

// In a time that does not tell how much of it is right.
bool proves(const Secret& secret, const Token& token);

}  // namespace belfry
