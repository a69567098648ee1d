// SPDX-License-Identifier: MIT

#include "api/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "access/token_secret.h"
#include "model/key.h"
#include "model/url.h"

namespace belfry {
namespace {

bool is_loopback_name(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  const bool numeric = std::all_of(host.begin(), host.end(),
                                   [](char c) { return c == '.' || ('0' <= c && c <= '9'); });
  return numeric && host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3;
}

Status check_local(const HttpRequest& request) {
  const std::string_view host = header_of(request.headers, "Host");
  if (!is_loopback_authority(host)) {
    return Error{ErrorCode::forbidden,
                 "In local mode the Host header must name this machine (localhost, 127.0.0.1 or "
                 "[::1]).",
                 "Host"};
  }
  const std::string_view origin = header_of(request.headers, "Origin");
  if (!origin.empty() && folded(origin) != "http://" + folded(host)) {
    return Error{ErrorCode::forbidden,
                 "In local mode requests from pages of another origin are refused.", "Origin"};
  }
  return Done{};
}

Principal everybody_here() {
  return {PrincipalKind::local, "", "local mode", {{Role::owner, Scope{}}}};
}

Error unknown_token() {
  return {ErrorCode::unauthenticated,
          "Authentication failed. The access token is not known, was revoked or has expired.",
          "Authorization"};
}

// Why a token is not taken is no business of who tries it.
Admission not_known(AuthenticationFault fault) {
  return {unknown_token(), {{fault}}};
}

Admission has_ended(const Token& token) {
  const auto fault =
      token.revoked ? AuthenticationFault::revoked_token : AuthenticationFault::expired_token;
  return {unknown_token(), {{fault, token.id, token.name}}};
}

// What follows "Bearer " in the one Authorization header.
Result<std::string_view> bearer_of(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  std::optional<std::string_view> found;
  for (const auto& [name, value] : request.headers) {
    if (folded(name) != "authorization") continue;
    if (found) {
      return Error{ErrorCode::unauthenticated,
                   "Authentication failed. There are two Authorization headers.", "Authorization"};
    }
    found = value;
  }
  if (!found || folded(found->substr(0, kScheme.size())) != kScheme) {
    return Error{ErrorCode::unauthenticated,
                 "Authentication failed. The 'Authorization' header is missing or is not 'Bearer' "
                 "and an access token.",
                 "Authorization"};
  }
  return found->substr(kScheme.size());
}

// ARM's sentence, and the role that would have been enough.
Error not_allowed(const Principal& principal, const Errand& errand) {
  return {ErrorCode::forbidden,
          fmt::format("The client '{}' with object id '{}' does not have authorization to perform "
                      "action '{}' over scope '{}' or the scope is invalid. It takes the role {} "
                      "there. If access was recently granted, please refresh your credentials.",
                      principal.name, principal.id, action_name(errand.operation), errand.resource,
                      name_of(*role_needed(errand.operation))),
          {}};
}

}  // namespace

bool is_loopback_authority(std::string_view authority) {
  const auto url = parse_url("http://" + std::string(authority));
  return url && url->target == "/" && is_loopback_name(url->host);
}

AuditedRequest Permit::audited() const {
  const Principal& principal = caller_.principal();
  return {.kind = principal.kind,
          .principal = principal.name,
          .principal_id = principal.id,
          .address = caller_.address(),
          .operation = std::string(action_name(errand_.operation)),
          .scope = folded(errand_.scope),
          .resource = errand_.resource};
}

Result<Caller> Gate::admit_local(const HttpRequest& request) const {
  if (const Status local = check_local(request); !local) return local.error();
  return Caller(everybody_here(), request.remote_address);
}

void Gate::admit(const HttpRequest& request, Instant now, Admitted admitted) const {
  if (options_.tokens == nullptr) return admitted({admit_local(request)});
  const auto bearer = bearer_of(request);
  if (!bearer) return admitted({bearer.error(), {{AuthenticationFault::no_token}}});
  if (bearer->starts_with(kTokenPrefix)) return admitted(admit_token(*bearer, request, now));
  if (!options_.verify_bearer) return admitted(not_known(AuthenticationFault::unknown_token));
  options_.verify_bearer(
      Secret(std::string(*bearer)),
      [address = request.remote_address, admitted = std::move(admitted)](Result<Principal> who) {
        if (who) return admitted({Caller(*std::move(who), address)});
        if (who.error().code == ErrorCode::unavailable) return admitted({who.error()});
        admitted(not_known(AuthenticationFault::issuers));
      });
}

Admission Gate::admit_token(std::string_view bearer, const HttpRequest& request,
                            Instant now) const {
  const auto parts = parse_token(bearer);
  if (!parts) return not_known(AuthenticationFault::unknown_token);
  const auto stored = options_.tokens->token(parts->id);
  if (!stored && stored.error().code == ErrorCode::unavailable) return {stored.error()};
  if (!stored || !*stored || !proves(parts->secret, **stored)) {
    return not_known(AuthenticationFault::unknown_token);
  }
  const Token& token = **stored;
  if (!usable(token, now)) return has_ended(token);
  return {Caller({PrincipalKind::token, token.id, token.name, token.assignments},
                 request.remote_address)};
}

Result<Permit> Gate::permit_anywhere(const Caller& caller, Errand errand) const {
  for (const Assignment& assignment : caller.principal().assignments) {
    if (caller.may(errand.operation, assignment.scope)) return Permit(caller, std::move(errand));
  }
  return not_allowed(caller.principal(), errand);
}

Result<Permit> Gate::permit(const Caller& caller, Errand errand, const Hidden& hidden) const {
  if (caller.may(errand.operation, errand.scope)) return Permit(caller, std::move(errand));
  if (!caller.may(Operation::read, errand.scope)) return hidden();
  return not_allowed(caller.principal(), errand);
}

}  // namespace belfry
