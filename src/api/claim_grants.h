// SPDX-License-Identifier: MIT
//
// What the claims of an issuer's token entitle to, by the operator's word: "whoever has this
// value in that claim is given this role over that scope". Nothing is granted that is not
// configured.
//
//   roles=Belfry.Admin:Owner@/, groups=b1f0…:Reader@/subscriptions/s, sub=ci:Operator@/

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "access/jwt.h"
#include "access/principal.h"
#include "base/result.h"
#include "model/role.h"

namespace belfry {

inline constexpr std::size_t kClaimGrantsMax = 1'000;

struct ClaimGrant {
  std::string claim;
  std::string value;
  Assignment assignment;
};

// A list with commas. A value may have colons and @ in it. The error says which item is wrong.
Result<std::vector<ClaimGrant>> parse_claim_grants(std::string_view text);

// Whom the claims are of. The id is the issuer's and the subject's, which nobody else has; the
// name is for people, and may be one that its bearer chose.
Principal principal_of(const Claims& claims, const std::vector<ClaimGrant>& grants);

}  // namespace belfry
