// SPDX-License-Identifier: MIT

#include "app/first_token.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "access/roles.h"
#include "access/token_secret.h"
#include "store/durable_file.h"

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

Result<FirstToken> hand_out_first_token(TokenStore& store, Instant now, const std::string& file) {
  FirstToken first;
  if (file.empty()) {
    TRY_ASSIGN(first.token, mint_first_token(store, now));
    return first;
  }
  TRY_ASSIGN(const bool owned, has_owner(store, now));
  if (owned) return first;
  const std::filesystem::path unfinished = file + ".new";
  ::unlink(unfinished.c_str());
  TRY_ASSIGN(const FileDescriptor out, make_private_file(unfinished));
  TRY_ASSIGN(const std::optional<Secret> token, mint_first_token(store, now));
  const auto written = write_all(out, token.value().reveal() + "\n", unfinished);
  if (!written) return written.error();
  if (const auto named = replace(unfinished, file); !named) return named.error();
  first.in_file = true;
  return first;
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
