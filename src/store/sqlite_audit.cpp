// SPDX-License-Identifier: MIT

#include "store/sqlite_audit.h"

#include <fmt/format.h>

#include "store/audit_chain.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"

namespace belfry {

namespace {

constexpr char kHead[] = "SELECT number, hash FROM audit_head WHERE one = 1";
constexpr char kMoveHead[] = "UPDATE audit_head SET number = ?1, hash = ?2 WHERE one = 1";
constexpr char kInsert[] = R"(
INSERT INTO audit(number, at, kind, principal, principal_id, address, operation, subscription,
                  scope, resource, result, before, after, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14))";

const std::string kColumns = R"(
SELECT number, at, kind, principal, principal_id, address, operation, scope, resource, result,
       before, after, hash )";
const std::string kSelect = kColumns + "FROM audit ";
const std::string kNewest = kSelect + "WHERE number < ?1 ORDER BY number DESC LIMIT ?2";
// Spans of one subscription do not overlap; its rows are looked for in them, and the scope among
// these.
const std::string kNewestOfScope = kColumns + R"(
FROM audit_span AS s CROSS JOIN audit AS a ON a.number BETWEEN s.first AND s.last
WHERE s.subscription = ?3 AND s.first < ?1 AND a.number < ?1 AND a.subscription = ?3
  AND (scope = ?4 OR (scope > ?5 AND scope < ?6))
ORDER BY s.first DESC, a.number DESC LIMIT ?2)";
constexpr char kInsertSpan[] = R"(
INSERT INTO audit_span(subscription, first, last) VALUES (?1, ?2, ?3))";
const std::string kOldest = kSelect + "ORDER BY number";

AuditMark head_of(Connection& db) {
  AuditMark head;
  Rows rows = db.query(kHead);
  if (rows.next()) head = {rows.integer(), rows.text()};
  return head;
}

AuditRow read_row(Rows& rows) {
  AuditRow row;
  AuditedRequest& request = row.entry.request;
  row.number = rows.integer();
  row.entry.at = rows.instant();
  request.kind = rows.choice(PrincipalKind::unknown);
  request.principal = rows.text();
  request.principal_id = rows.text();
  request.address = rows.text();
  request.operation = rows.text();
  request.scope = rows.text();
  request.resource = rows.text();
  row.entry.result = rows.choice(AuditResult::refused);
  row.entry.before = rows.text();
  row.entry.after = rows.text();
  row.hash = rows.text();
  return row;
}

std::string subscription_of(const std::string& scope) {
  return scope.substr(0, scope.find('/'));
}

std::string missing(std::int64_t first, std::int64_t last) {
  if (first == last) return fmt::format("row {} is missing", first);
  return fmt::format("rows {} to {} are missing", first, last);
}

// Goes along the chain, row by row.
class Walk {
 public:
  explicit Walk(const std::optional<AuditMark>& mark) : mark_(mark) {}

  void take(const AuditRow& row) {
    const std::int64_t expected = findings_.last.number + 1;
    if (row.number != expected) {
      add(missing(expected, row.number - 1));
    } else if (row.hash != chained_hash(findings_.last.hash, row.number, row.entry)) {
      add(fmt::format("row {} was altered, or the one before it and its hash", row.number));
    }
    if (mark_ && mark_->number == row.number && mark_->hash != row.hash) {
      add(fmt::format("row {} is not the one that was written down: the log was made anew",
                      row.number));
    }
    ++findings_.rows;
    findings_.last = {row.number, row.hash};
  }

  AuditFindings finish(const AuditMark& head) {
    std::int64_t known = head.number;
    if (mark_) known = std::max(known, mark_->number);
    if (known > findings_.last.number) {
      add(missing(findings_.last.number + 1, known));
    } else if (head.number != findings_.last.number || head.hash != findings_.last.hash) {
      add(fmt::format("row {} is not the last one that was written", findings_.last.number));
    }
    return std::move(findings_);
  }

  bool full() const { return findings_.problems.size() >= kProblemsMax; }
  void add(std::string problem) {
    if (!full()) findings_.problems.push_back(std::move(problem));
  }

 private:
  const std::optional<AuditMark>& mark_;
  AuditFindings findings_;
};

}  // namespace

void AuditAppender::append(const AuditEntry& entry) {
  if (!head_) head_ = head_of(db_);
  const std::int64_t number = head_->number + 1;
  head_ = AuditMark{number, chained_hash(head_->hash, number, entry)};
  const AuditedRequest& by = entry.request;
  const std::string subscription = subscription_of(by.scope);
  spans_.try_emplace(subscription, Span{.first = number}).first->second.last = number;
  db_.run(kInsert, number, entry.at, by.kind, by.principal, by.principal_id, by.address,
          by.operation, subscription, by.scope, by.resource, entry.result, entry.before,
          entry.after, head_->hash);
}

void AuditAppender::finish() {
  if (head_) db_.run(kMoveHead, head_->number, head_->hash);
  for (const auto& [subscription, span] : spans_) {
    db_.run(kInsertSpan, subscription, span.first, span.last);
  }
  head_.reset();
  spans_.clear();
}

void append_audit(Connection& db, const AuditEntry& entry) {
  AuditAppender log(db);
  log.append(entry);
  log.finish();
}

std::vector<AuditRow> list_audit(Connection& db, const AuditQuery& query) {
  std::vector<AuditRow> out;
  const auto limit = static_cast<std::int64_t>(query.limit);
  Rows rows = query.scope.empty() ? db.query(kNewest.c_str(), query.before, limit)
                                  : db.query(kNewestOfScope.c_str(), query.before, limit,
                                             subscription_of(query.scope), query.scope,
                                             query.scope + '/', query.scope + '0');
  while (rows.next()) out.push_back(read_row(rows));
  return out;
}

Result<AuditFindings> verify_audit(const std::filesystem::path& directory,
                                   const std::optional<AuditMark>& mark) {
  TRY_ASSIGN(const auto db, open_database_in(directory));
  if (const auto well = check_schema(*db); !well) return well.error();
  Walk walk(mark);
  db->execute("BEGIN");  // one state of the database for rows and head
  for (Rows rows = db->query(kOldest.c_str()); !walk.full() && rows.next();) {
    walk.take(read_row(rows));
  }
  const AuditMark head = head_of(*db);
  if (db->failed()) return db->take_failure().error;
  db->execute("COMMIT");
  return walk.finish(head);
}

}  // namespace belfry
