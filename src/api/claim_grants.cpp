// SPDX-License-Identifier: MIT

#include "api/claim_grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/token.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

// The first that a token has is its bearer's name; the last three are how issuers call a program.
constexpr std::string_view kNameClaims[] = {"preferred_username", "upn", "email", "name",
                                            "app_displayname",    "azp", "appid", "client_id"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Error wrong_item(std::string_view item, std::string_view why) {
  return {ErrorCode::invalid, fmt::format("'{}' {}", item, why), {}};
}

Result<Assignment> assignment_of(std::string_view item, std::string_view role,
                                 std::string_view scope_text) {
  const auto known = std::ranges::find(kRoles, role, &std::pair<std::string_view, Role>::first);
  if (known == std::end(kRoles)) {
    return wrong_item(item, "names a role that is none of Reader, Operator, Contributor, Owner");
  }
  auto scope = parse_scope(scope_text);
  if (!scope) return wrong_item(item, "names no scope: " + scope.error().message);
  return Assignment{known->second, *std::move(scope)};
}

// Read from both ends, for a value may hold whatever the issuer likes.
Result<ClaimGrant> grant_of(std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::size_t at = item.rfind("@/");
  const std::size_t colon = item.substr(0, at).rfind(':');
  const bool whole = equals != std::string_view::npos && at != std::string_view::npos &&
                     colon != std::string_view::npos && 0 < equals && equals + 1 < colon;
  if (!whole) {
    return wrong_item(item, "is not CLAIM=VALUE:ROLE@SCOPE, such as roles=Belfry.Admin:Owner@/");
  }
  TRY_ASSIGN(Assignment assignment,
             assignment_of(item, item.substr(colon + 1, at - colon - 1), item.substr(at + 1)));
  return ClaimGrant{std::string(item.substr(0, equals)),
                    std::string(item.substr(equals + 1, colon - equals - 1)),
                    std::move(assignment)};
}

std::string name_of_bearer(const Claims& claims) {
  for (const std::string_view claim : kNameClaims) {
    const auto found = claims.texts.find(claim);
    if (found == claims.texts.end() || found->second.empty()) continue;
    const std::string& name = found->second.front();
    if (!name.empty() && name.size() <= kTokenNameBytesMax) return name;
  }
  return claims.subject;
}

}  // namespace

Result<std::vector<ClaimGrant>> parse_claim_grants(std::string_view text) {
  std::vector<ClaimGrant> grants;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (item.empty()) continue;
    if (grants.size() == kClaimGrantsMax) {
      return Error{
          ErrorCode::invalid, fmt::format("there are more than {} grants", kClaimGrantsMax), {}};
    }
    TRY_ASSIGN(ClaimGrant grant, grant_of(item));
    grants.push_back(std::move(grant));
  }
  return grants;
}

Principal principal_of(const Claims& claims, const std::vector<ClaimGrant>& grants) {
  Principal out{PrincipalKind::bearer,
                fmt::format("{}#{}", claims.issuer, claims.subject),
                name_of_bearer(claims),
                {}};
  for (const ClaimGrant& grant : grants) {
    if (claims.has(grant.claim, grant.value)) out.assignments.push_back(grant.assignment);
  }
  return out;
}

}  // namespace belfry
