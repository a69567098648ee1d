// SPDX-License-Identifier: MIT
//
// The MemoryStore's tokens and audit log.

#include "store/audit_chain.h"
#include "store/memory_store.h"

namespace belfry {

void MemoryStore::append_audit(const AuditEntry& entry) {
  const auto number = static_cast<std::int64_t>(audit_.size()) + 1;
  const std::string previous = audit_.empty() ? "" : audit_.back().hash;
  audit_.push_back({number, entry, chained_hash(previous, number, entry)});
}

WriteResult MemoryStore::apply(const AppendAudit& write) {
  append_audit(write.entry);
  return WriteResult::applied;
}

Status MemoryStore::add_token(const Token& token, const AuditEntry& entry) {
  const std::lock_guard lock(mutex_);
  const Instant forgotten = token.created - kEndedTokensKept;
  std::erase_if(tokens_, [&](const auto& kept) {
    const auto& [id, one] = kept;
    return (one.revoked && *one.revoked < forgotten) || (one.expires && *one.expires < forgotten);
  });
  if (tokens_.size() >= kTokensMax) return too_many_tokens();
  if (!tokens_.emplace(token.id, token).second) return token_exists(token.id);
  append_audit(entry);
  return Done{};
}

Result<bool> MemoryStore::revoke_token(const std::string& id, const AuditEntry& entry) {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(id);
  if (found == tokens_.end() || found->second.revoked) return false;
  found->second.revoked = entry.at;
  append_audit(entry);
  return true;
}

Result<std::optional<Token>> MemoryStore::token(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(id);
  if (found == tokens_.end()) return std::optional<Token>();
  return std::optional(found->second);
}

Result<std::vector<Token>> MemoryStore::tokens(const std::string& after, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<Token> out;
  for (auto at = tokens_.upper_bound(after); at != tokens_.end() && out.size() < limit; ++at) {
    out.push_back(at->second);
  }
  return out;
}

Result<std::vector<AuditRow>> MemoryStore::audit_rows(const AuditQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<AuditRow> out;
  for (auto row = audit_.rbegin(); row != audit_.rend() && out.size() < query.limit; ++row) {
    const std::string& scope = row->entry.request.scope;
    const bool inside =
        query.scope.empty() || scope == query.scope || scope.starts_with(query.scope + '/');
    if (inside && row->number < query.before) out.push_back(*row);
  }
  return out;
}

}  // namespace belfry
