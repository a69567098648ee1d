// SPDX-License-Identifier: MIT
//
// Whether a bearer token (a JSON Web Token, RFC 7519) is one of our issuer's and meant for us.
// Pure: no clock, no network. What the token says of itself is believed only after the
// signature: until then its algorithm and its key's id merely pick a key that we already have,
// and the key must be of that algorithm. Members that point to other keys (jku, x5u, jwk, x5c)
// are not looked at; `crit`, which demands something of the reader, is refused.
//
// An error's message is the reason, for the log alone: a client learns that its token is
// invalid and not how to make a better forgery.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/jwks.h"
#include "base/instant.h"
#include "base/result.h"

namespace belfry {

inline constexpr std::size_t kJwtBytesMax = 16 * 1024;
inline constexpr std::size_t kJwtKeyIdBytesMax = 256;
inline constexpr std::size_t kJwtSubjectBytesMax = 256;
// The issuer's clock and ours may differ by so much.
inline constexpr Seconds kJwtLeeway{60};

// A token taken apart. Nothing of it is to be believed.
struct Jwt {
  JwtAlgorithm algorithm{};
  std::string key_id;  // empty: it names none
  std::string signed_text;
  std::string payload;    // JSON
  std::string signature;  // as bytes
};
Result<Jwt> read_jwt(std::string_view token);

// Who the token says has issued it: by whose keys it is to be judged. None: it does not say.
std::optional<std::string> claimed_issuer(const Jwt& token);

struct JwtRules {
  std::string issuer;
  std::vector<std::string> audiences;  // one of them must be named
  std::string tenant;                  // empty: not asked for
};

// What a token that was verified says.
struct Claims {
  std::string issuer;
  std::string subject;
  Instant expires;
  // Every claim that is a text, or a list with texts; those of an object within as
  // "realm_access.roles". Texts with control characters are left out.
  std::map<std::string, std::vector<std::string>, std::less<>> texts;

  bool has(std::string_view claim, std::string_view value) const;
};

Result<Claims> verify_jwt(const Jwt& token, const JwtKeys& keys, const JwtRules& rules,
                          Instant now);

}  // namespace belfry
