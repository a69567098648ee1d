// SPDX-License-Identifier: MIT
//
// /belfry/tokens: access tokens are listed, made and revoked by those who own the scopes that
// the tokens are for. A token's secret is in the answer that makes it, and nowhere else.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "access/token_secret.h"
#include "api/api.h"
#include "api/response.h"
#include "wire/access_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr const char* kMalformedToken = "Malformed Token Object";

Error not_served() {
  return {ErrorCode::no_such_route, "Tokens are not served here.", {}};
}

Error token_not_found(const std::string& id) {
  return {ErrorCode::no_such_route, fmt::format("Token '{}' cannot be found.", id), {}};
}

Error scope_not_found(const Scope& scope) {
  return {ErrorCode::no_such_route, fmt::format("Scope '{}' cannot be found.", scope_id(scope)),
          "assignments"};
}

bool owns(const Caller& caller, const Token& token) {
  return std::all_of(token.assignments.begin(), token.assignments.end(),
                     [&](const Assignment& assignment) {
                       return caller.may(Operation::manage_access, assignment.scope);
                     });
}

// Readers of a token's one scope may know of it; of several, only who may read everything.
std::string audit_scope(const Assignments& assignments) {
  return assignments.size() == 1 ? folded(assignments.front().scope) : std::string();
}

AuditEntry audit_entry(const Permit& permit, const Token& token, AuditResult result, Instant now) {
  AuditEntry entry{permit.audited(), now, result, "", ""};
  entry.request.scope = audit_scope(token.assignments);
  entry.request.resource = "/belfry/tokens/" + token.id;
  return entry;
}

Errand managing(const Scope& scope) {
  return {Operation::manage_access, scope, scope_id(scope)};
}

}  // namespace

HttpResponse Api::list_tokens(const Permit& permit, const Call& call) {
  if (options_.tokens == nullptr) return error_response(not_served());
  const auto owner = gate_.permit_anywhere(permit.caller(), managing({}));
  if (!owner) return error_response(owner.error());
  std::string after = call.query.skip_token.value_or("");
  std::vector<Token> seen;
  for (bool more = true; more && seen.size() <= kTokensPerPage;) {
    auto tokens = options_.tokens->tokens(after, kTokensPerPage + 1);
    if (!tokens) return error_response(tokens.error());
    more = tokens->size() > kTokensPerPage;
    if (more) after = tokens->back().id;
    std::copy_if(tokens->begin(), tokens->end(), std::back_inserter(seen),
                 [&](const Token& token) { return owns(permit.caller(), token); });
  }
  std::string link;
  if (seen.size() > kTokensPerPage) {
    seen.resize(kTokensPerPage);
    link = next_link(call, seen.back().id);
  }
  return page_response(seen, link, [now = clock_.now()](JsonWriter& out, const Token& token) {
    out.json(json::serialize(write_token(token, now)));
  });
}

HttpResponse Api::create_token(const Permit& permit, const Call& call) {
  if (options_.tokens == nullptr) return error_response(not_served());
  const auto owner = gate_.permit_anywhere(permit.caller(), managing({}));
  if (!owner) return error_response(owner.error());
  const auto body = parse_json(call.request.body, JsonDialect::strict);
  if (!body) return malformed_response(kMalformedToken, {body.error()});
  const Instant now = clock_.now();
  Reading reading;
  TokenRequest wanted = read_token_request(*body, now, reading);
  if (!reading.errors.empty()) return malformed_response(kMalformedToken, reading.errors);
  for (const Assignment& assignment : wanted.assignments) {
    const auto allowed = gate_.permit(permit.caller(), managing(assignment.scope),
                                      [&] { return scope_not_found(assignment.scope); });
    if (!allowed) return error_response(allowed.error());
  }
  auto minted = mint_token();
  if (!minted) return error_response(minted.error());
  Token& token = minted->kept;
  token.name = std::move(wanted.name);
  token.assignments = std::move(wanted.assignments);
  token.created = now;
  token.expires = wanted.expires;
  const auto added =
      options_.tokens->add_token(token, audit_entry(*owner, token, AuditResult::created, now));
  if (!added) return error_response(added.error());
  json::object answer = write_token(token, now);
  answer["token"] = minted->given.reveal();
  HttpResponse response = json_response(201, answer);
  response.headers.emplace_back("Cache-Control", "no-store");
  add_ignored(response, reading.ignored);
  return response;
}

HttpResponse Api::revoke_token(const Permit& permit, const Call& call) {
  if (options_.tokens == nullptr) return error_response(not_served());
  const auto owner = gate_.permit_anywhere(permit.caller(), managing({}));
  if (!owner) return error_response(owner.error());
  auto token = options_.tokens->token(call.path.token);
  if (!token) return error_response(token.error());
  if (!*token || !owns(permit.caller(), **token)) {
    return error_response(token_not_found(call.path.token));
  }
  const Instant now = clock_.now();
  const auto revoked = options_.tokens->revoke_token(
      (*token)->id, audit_entry(*owner, **token, AuditResult::deleted, now));
  if (!revoked) return error_response(revoked.error());
  if (*revoked) (*token)->revoked = now;
  return json_response(200, write_token(**token, now));
}

}  // namespace belfry
