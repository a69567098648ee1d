// SPDX-License-Identifier: MIT

#include "app/first_token.h"

#include <algorithm>

#include "access/roles.h"
#include "access/token_secret.h"

namespace belfry {
namespace {

constexpr std::size_t kTokensRead = 500;

bool owns_everything(const Token& token) {
  return std::any_of(token.assignments.begin(), token.assignments.end(),
                     [](const Assignment& assignment) {
                       return assignment.role == Role::owner && covers(assignment.scope, Scope{});
                     });
}

Result<bool> has_owner(TokenStore& store, Instant now) {
  std::string after;
  while (true) {
    TRY_ASSIGN(const auto tokens, store.tokens(after, kTokensRead));
    for (const Token& token : tokens) {
      if (usable(token, now) && owns_everything(token)) return true;
    }
    if (tokens.size() < kTokensRead) return false;
    after = tokens.back().id;
  }
}

}  // namespace

Result<std::optional<Secret>> mint_first_token(TokenStore& store, Instant now) {
  TRY_ASSIGN(const bool owned, has_owner(store, now));
  if (owned) return std::optional<Secret>();
  Token wanted;
  wanted.name = "first owner";
  wanted.assignments = {{Role::owner, Scope{}}};
  TRY_ASSIGN(Secret given, add_local_token(store, std::move(wanted), now, "start of the server"));
  return std::optional(std::move(given));
}

Result<Secret> add_local_token(TokenStore& store, Token wanted, Instant now,
                               const std::string& why) {
  TRY_ASSIGN(MintedToken minted, mint_token());
  wanted.id = minted.kept.id;
  wanted.secret_hash = minted.kept.secret_hash;
  wanted.created = now;
  AuditEntry entry;
  entry.at = now;
  entry.result = AuditResult::created;
  entry.request.kind = PrincipalKind::local;
  entry.request.principal = why;
  entry.request.operation = std::string(action_name(Operation::manage_access));
  entry.request.resource = "/belfry/tokens/" + wanted.id;
  if (const auto added = store.add_token(wanted, entry); !added) return added.error();
  return std::move(minted.given);
}

}  // namespace belfry
