// SPDX-License-Identifier: MIT

#include "store/sqlite_echoes.h"

#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "model/secret_mask.h"
#include "store/sqlite_history.h"
#include "store/sqlite_rows.h"

namespace belfry {
namespace {

constexpr char kSeenUpTo[] = "SELECT after FROM echoes_unseen";
constexpr char kNoteSeen[] = "UPDATE echoes_unseen SET after = ?1";
constexpr char kAllSeen[] = "DELETE FROM echoes_unseen";
constexpr char kNextJob[] = "SELECT id FROM job WHERE id > ?1 ORDER BY id LIMIT 1";
constexpr char kLeft[] = R"(
SELECT count(*) FROM job WHERE id > (SELECT after FROM echoes_unseen))";
const std::string kJobOfId = kSelectWaitingJob + R"(
FROM job AS j CROSS JOIN progress AS p ON p.job = j.id
              CROSS JOIN collection AS c ON c.id = j.collection
WHERE j.id = ?1)";
constexpr char kReplaceMessage[] = R"(
UPDATE history SET message = ?5 WHERE job = ?1 AND seq = ?2 AND role = ?3 AND retry = ?4)";

// Nothing where the job cannot be read.
SecretMask mask_of(Connection& db, const Sealer& sealer, JobId id) {
  Rows rows = db.query(kJobOfId.c_str(), id);
  if (!rows.next()) return {};
  const ReadJob read = read_job(rows, sealer);
  return read.definition ? SecretMask(read.job.definition) : SecretMask();
}

// Older versions cut what came before they wrote it down.
void mask_row(Connection& db, const HistoryEntry& row, const SecretMask& mask) {
  const std::string message = mask.masked_after_cut(row.message);
  if (message == row.message) return;
  db.run(kReplaceMessage, row.job, row.occurrence.seq, row.role, row.retry,
         std::string_view(message));
}

}  // namespace

std::size_t EchoMasking::look_at(Connection& db, const Sealer& sealer, JobId job,
                                 std::size_t limit) {
  const SecretMask mask = mask_of(db, sealer, job);
  const std::optional<Begun> begun = std::exchange(begun_, std::nullopt);
  if (mask.empty()) return 0;
  HistoryQuery query{.job = job, .status = {}, .before = {}, .skip = 0, .limit = limit};
  if (begun && begun->job == job) query.before = begun->last;
  const auto rows = list_history(db, query);
  for (const HistoryEntry& row : rows) mask_row(db, row, mask);
  if (rows.size() == limit) {
    const HistoryEntry& last = rows.back();
    begun_ = Begun{job, {last.occurrence.seq, last.role, last.retry}};
  }
  return rows.size();
}

std::size_t EchoMasking::step(Connection& db, const Sealer& sealer, std::size_t limit) {
  if (finished_ || limit == 0) return 0;
  auto after = db.value(kSeenUpTo);
  if (!after) {
    finished_ = !db.failed();
    return 0;
  }
  // What was there must not be found in the pages that become free.
  db.execute("PRAGMA secure_delete = ON");
  std::size_t looked = 0;
  while (looked < limit && !db.failed()) {
    const auto job = db.value(kNextJob, *after);
    if (!job) {
      db.run(kAllSeen);
      finished_ = true;
      ++looked;
      break;
    }
    looked += look_at(db, sealer, JobId{*job}, limit - looked);
    if (begun_) break;
    after = job;
    ++looked;
  }
  if (!finished_) db.run(kNoteSeen, *after);
  db.execute("PRAGMA secure_delete = FAST");
  FAILPOINT("masked-slice");
  return looked;
}

std::int64_t jobs_with_echoes_unseen(Connection& db) {
  return db.value(kLeft).value_or(0);
}

}  // namespace belfry
