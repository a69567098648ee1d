// SPDX-License-Identifier: MIT
//
// Any bytes as a bearer token, and, behind a line break, as an issuer's set of keys: refused
// with a reason. Without the issuer's private key none is ever accepted.

#include <cstdint>
#include <string_view>

#include "access/jwt.h"
#include "base/assert.h"
#include "base/base64.h"

namespace belfry {
namespace {

// The key of RFC 7515, A.3, under an id; its token, which names none, is in the
// corpus and fits: it is refused for its audience.
constexpr std::string_view kKeys = R"({"keys":[
{"kty":"EC","kid":"ec","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
 "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";

void check_token(std::string_view token) {
  static const auto keys = JwtKeys::parse(kKeys);
  ASSERT(keys.has_value());
  const auto jwt = read_jwt(token);
  if (!jwt) {
    ASSERT(jwt.error().code == ErrorCode::unauthenticated && !jwt.error().message.empty());
    return;
  }
  ASSERT(token.starts_with(jwt->signed_text) && jwt->signed_text.size() < token.size());
  const auto claims = verify_jwt(*jwt, *keys, {"joe", {"belfry"}, ""}, Instant{});
  ASSERT(!claims && !claims.error().message.empty());
}

// What decodes has one spelling.
void check_base64url(std::string_view text) {
  const auto bytes = base64url_decoded(text);
  if (bytes) ASSERT(base64url_of(*bytes) == text);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  belfry::check_token(input.substr(0, end));
  belfry::check_base64url(input.substr(0, end));
  if (end != std::string_view::npos) {
    const auto keys = belfry::JwtKeys::parse(input.substr(end + 1));
    if (keys) ASSERT(keys->size() > 0);
  }
  return 0;
}
