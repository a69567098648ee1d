// SPDX-License-Identifier: MIT

#include "access/jwt_grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace belfry {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Read from both ends, for a value may hold whatever the issuer likes.
std::optional<JwtGrant> grant_of(std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::size_t at = item.rfind("@/");
  if (equals == std::string_view::npos || at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = item.substr(0, at).rfind(':');
  if (colon == std::string_view::npos || colon < equals) return std::nullopt;
  JwtGrant grant{
      std::string(item.substr(0, equals)), std::string(item.substr(equals + 1, colon - equals - 1)),
      std::string(item.substr(colon + 1, at - colon - 1)), std::string(item.substr(at + 1))};
  if (grant.claim.empty() || grant.value.empty() || grant.role.empty()) return std::nullopt;
  return grant;
}

}  // namespace

Result<std::vector<JwtGrant>> parse_jwt_grants(std::string_view text) {
  std::vector<JwtGrant> grants;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (item.empty()) continue;
    auto grant = grant_of(item);
    if (!grant) {
      return Error{ErrorCode::invalid,
                   fmt::format("'{}' is not CLAIM=VALUE:ROLE@SCOPE, such as "
                               "roles=Belfry.Admin:Owner@/",
                               item),
                   {}};
    }
    grants.push_back(*std::move(grant));
  }
  if (grants.size() <= kJwtGrantsMax) return grants;
  return Error{ErrorCode::invalid, fmt::format("there are more than {} grants", kJwtGrantsMax), {}};
}

std::vector<JwtGrant> grants_for(const Claims& claims, const std::vector<JwtGrant>& grants) {
  std::vector<JwtGrant> out;
  std::copy_if(grants.begin(), grants.end(), std::back_inserter(out),
               [&](const JwtGrant& grant) { return claims.has(grant.claim, grant.value); });
  return out;
}

}  // namespace belfry
