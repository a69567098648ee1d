// SPDX-License-Identifier: MIT
//
// Why somebody was not let in. It is told to the operator, never to who tries.

#pragma once

#include <array>
#include <string>
#include <string_view>

namespace belfry {

enum class AuthenticationFault { no_token, unknown_token, expired_token, revoked_token, issuers };

// As metrics and the log call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 5> kAuthenticationFaults{
    "no_token", "unknown_token", "expired_token", "revoked_token", "issuers_token"};

constexpr std::string_view name_of(AuthenticationFault fault) {
  return kAuthenticationFaults[static_cast<std::size_t>(fault)];
}

struct FailedAuthentication {
  AuthenticationFault fault = AuthenticationFault::no_token;
  // Of the token that was ours: whoever had it proved to have had it.
  std::string token_id = {};
  std::string token_name = {};
};

}  // namespace belfry
