// SPDX-License-Identifier: MIT

#include "store/sqlite_tokens.h"

#include "store/row_macs.h"
#include "store/token_store.h"
#include "wire/access_json.h"

namespace belfry {

namespace {

constexpr char kInsert[] = R"(
INSERT INTO token(id, name, secret_hash, assignments, created, expires, revoked, mac)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING)";
constexpr char kForgetEnded[] = "DELETE FROM token WHERE revoked < ?1 OR expires < ?1";
constexpr char kCount[] = "SELECT count(*) FROM token";
constexpr char kRevoke[] = "UPDATE token SET revoked = ?2, mac = ?3 WHERE id = ?1";
constexpr char kReplaceMac[] = "UPDATE token SET mac = ?2 WHERE id = ?1";
const std::string kSelect = R"(
SELECT id, name, secret_hash, assignments, created, expires, revoked, mac FROM token )";
const std::string kFind = kSelect + "WHERE id = ?1";
const std::string kList = kSelect + "WHERE id > ?1 ORDER BY id LIMIT ?2";

StoredToken read_token(Rows& rows) {
  StoredToken out;
  Token& token = out.token;
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
  out.mac = rows.maybe_text();
  return out;
}

void expect_genuine(Connection& db, const Sealer& sealer, const StoredToken& stored) {
  const auto genuine = check_mac(sealer, stored.token, stored.mac);
  if (!genuine) db.fail(genuine.error());
}

}  // namespace

Status insert_token(Connection& db, const Sealer& sealer, const Token& token) {
  db.run(kForgetEnded, token.created - kEndedTokensKept);
  const std::int64_t count = db.value(kCount).value_or(0);
  if (count >= static_cast<std::int64_t>(kTokensMax)) return too_many_tokens();
  const std::string mac = sealer.mac(mac_text(token));
  const auto inserted =
      db.run(kInsert, token.id, token.name, token.secret_hash, assignments_text(token.assignments),
             token.created, token.expires, token.revoked, Blob{mac});
  if (inserted == 0) return token_exists(token.id);
  return Done{};
}

bool mark_token_revoked(Connection& db, const Sealer& sealer, const std::string& id, Instant at) {
  auto token = find_token(db, sealer, id);
  if (!token || token->revoked) return false;
  token->revoked = at;
  const std::string mac = sealer.mac(mac_text(*token));
  return db.run(kRevoke, id, at, Blob{mac}) == 1;
}

std::optional<Token> find_token(Connection& db, const Sealer& sealer, const std::string& id) {
  Rows rows = db.query(kFind.c_str(), id);
  if (!rows.next()) return std::nullopt;
  auto stored = read_token(rows);
  expect_genuine(db, sealer, stored);
  return std::move(stored.token);
}

std::vector<StoredToken> stored_tokens(Connection& db, const std::string& after,
                                       std::size_t limit) {
  std::vector<StoredToken> out;
  for (Rows rows = db.query(kList.c_str(), after, static_cast<std::int64_t>(limit)); rows.next();) {
    out.push_back(read_token(rows));
  }
  return out;
}

void replace_token_mac(Connection& db, const std::string& id, const std::string& mac) {
  db.run(kReplaceMac, id, Blob{mac});
}

std::vector<Token> list_tokens(Connection& db, const Sealer& sealer, const std::string& after,
                               std::size_t limit) {
  std::vector<Token> out;
  for (StoredToken& stored : stored_tokens(db, after, limit)) {
    expect_genuine(db, sealer, stored);
    out.push_back(std::move(stored.token));
  }
  return out;
}

}  // namespace belfry
