// SPDX-License-Identifier: MIT
//
// What a token's claims entitle to, by the operator's word: "whoever has this value in that
// claim is given this assignment". Nothing is granted that is not configured.
//
//   roles=Belfry.Admin:Owner@/, groups=b1f0…:Reader@/subscriptions/s, sub=ci:Operator@/

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "access/jwt.h"
#include "base/result.h"

namespace belfry {

inline constexpr std::size_t kJwtGrantsMax = 1'000;

struct JwtGrant {
  std::string claim;
  std::string value;
  std::string role;
  std::string scope;  // begins with a slash

  bool operator==(const JwtGrant&) const = default;
};

// A list with commas. A value may have colons and @ in it. The error says which item is wrong.
Result<std::vector<JwtGrant>> parse_jwt_grants(std::string_view text);

// Those that the claims fulfil, in the order in which they are configured.
std::vector<JwtGrant> grants_for(const Claims& claims, const std::vector<JwtGrant>& grants);

}  // namespace belfry
