// SPDX-License-Identifier: MIT

#include "store/sqlite_tokens.h"

#include "store/token_store.h"
#include "wire/access_json.h"

namespace belfry {

namespace {

constexpr char kInsert[] = R"(
INSERT INTO token(id, name, secret_hash, assignments, created, expires, revoked)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING)";
constexpr char kForgetEnded[] = "DELETE FROM token WHERE revoked < ?1 OR expires < ?1";
constexpr char kCount[] = "SELECT count(*) FROM token";
constexpr char kRevoke[] = "UPDATE token SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL";
const std::string kSelect = R"(
SELECT id, name, secret_hash, assignments, created, expires, revoked FROM token )";
const std::string kFind = kSelect + "WHERE id = ?1";
const std::string kList = kSelect + "WHERE id > ?1 ORDER BY id LIMIT ?2";

Token read_token(Rows& rows) {
  Token token;
  token.id = rows.text();
  token.name = rows.text();
  token.secret_hash = rows.text();
  auto assignments = parse_assignments(rows.view());
  if (assignments) {
    token.assignments = *std::move(assignments);
  } else {
    rows.fail(assignments.error());
  }
  token.created = rows.instant();
  token.expires = rows.maybe_instant();
  token.revoked = rows.maybe_instant();
  return token;
}

}  // namespace

Status insert_token(Connection& db, const Token& token) {
  db.run(kForgetEnded, token.created - kEndedTokensKept);
  const std::int64_t count = db.value(kCount).value_or(0);
  if (count >= static_cast<std::int64_t>(kTokensMax)) return too_many_tokens();
  const auto inserted =
      db.run(kInsert, token.id, token.name, token.secret_hash, assignments_text(token.assignments),
             token.created, token.expires, token.revoked);
  if (inserted == 0) return token_exists(token.id);
  return Done{};
}

bool mark_token_revoked(Connection& db, const std::string& id, Instant at) {
  return db.run(kRevoke, id, at) == 1;
}

std::optional<Token> find_token(Connection& db, const std::string& id) {
  Rows rows = db.query(kFind.c_str(), id);
  if (!rows.next()) return std::nullopt;
  return read_token(rows);
}

std::vector<Token> list_tokens(Connection& db, const std::string& after, std::size_t limit) {
  std::vector<Token> out;
  for (Rows rows = db.query(kList.c_str(), after, static_cast<std::int64_t>(limit)); rows.next();) {
    out.push_back(read_token(rows));
  }
  return out;
}

}  // namespace belfry
