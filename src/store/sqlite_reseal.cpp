// SPDX-License-Identifier: MIT

#include "store/sqlite_reseal.h"

#include <utility>
#include <vector>

#include "base/failpoint.h"

namespace belfry {
namespace {

constexpr char kRememberKey[] = "INSERT INTO sealing(key_id) VALUES (?1) ON CONFLICT DO NOTHING";
constexpr char kOtherKey[] = "SELECT 1 FROM sealing WHERE key_id <> ?1 LIMIT 1";
constexpr char kForgetOtherKeys[] = "DELETE FROM sealing WHERE key_id <> ?1";
constexpr char kSecretsAfter[] = R"(
SELECT id, secrets FROM job WHERE id > ?1 AND secrets IS NOT NULL ORDER BY id LIMIT ?2)";
constexpr char kReplaceSecrets[] = "UPDATE job SET secrets = ?2 WHERE id = ?1";

struct SealedRow {
  std::int64_t job = 0;
  std::string secrets;
};

std::vector<SealedRow> rows_after(Connection& db, std::int64_t job, std::size_t limit) {
  std::vector<SealedRow> out;
  for (Rows rows = db.query(kSecretsAfter, job, limit); rows.next();) {
    const std::int64_t id = rows.integer();
    out.push_back({id, rows.text()});
  }
  return out;
}

// False: it does not open.
bool reseal(Connection& db, const Sealer& sealer, const SealedRow& row) {
  const auto text = sealer.open(JobId{row.job}, row.secrets);
  if (!text) return false;
  const auto sealed = sealer.seal(JobId{row.job}, *text);
  if (sealed) {
    db.run(kReplaceSecrets, row.job, Blob{*sealed});
  } else {
    db.fail(sealed.error());
  }
  return true;
}

}  // namespace

void remember_key(Connection& db, const std::string& key_id) {
  db.run(kRememberKey, Blob{key_id});
}

std::size_t Resealing::step(Connection& db, const Sealer& sealer, std::size_t limit) {
  const std::string newest = sealer.sealing_key_id();
  if (limit == 0 || !db.value(kOtherKey, Blob{newest})) return 0;
  if (newest != key_id_) *this = Resealing();
  if (finished_) return 0;
  key_id_ = newest;
  const auto rows = rows_after(db, after_, limit);
  for (const SealedRow& row : rows) {
    if (key_id_of(row.secrets) != newest && !reseal(db, sealer, row)) all_opened_ = false;
    after_ = row.job;
  }
  FAILPOINT("resealed-slice");
  if (rows.size() == limit) return limit;
  // All that came meanwhile was sealed with the newest.
  if (all_opened_) db.run(kForgetOtherKeys, Blob{newest});
  finished_ = true;
  return rows.size() + 1;
}

}  // namespace belfry
