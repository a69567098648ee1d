// SPDX-License-Identifier: MIT

#include "store/sqlite_writes.h"

#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "store/row_macs.h"
#include "store/sealed_definition.h"
#include "store/sqlite_rows.h"

namespace belfry {

namespace {

constexpr char kInsertCollection[] = R"(
INSERT INTO collection(folded, subscription, resource_group, name, location, tags, sku, state,
                       max_job_count, max_frequency, max_interval, gen, mac, jobs)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0) ON CONFLICT DO NOTHING)";

// The spelling of the names stays.
constexpr char kUpdateCollection[] = R"(
UPDATE collection SET location = ?3, tags = ?4, sku = ?5, state = ?6, max_job_count = ?7,
                      max_frequency = ?8, max_interval = ?9, gen = ?10, mac = ?11
WHERE folded = ?1 AND gen = ?2)";

constexpr char kFindCollectionOfGen[] = "SELECT id FROM collection WHERE folded = ?1 AND gen = ?2";
constexpr char kDeleteCollection[] = "DELETE FROM collection WHERE id = ?1";
constexpr char kRemoveJobsOf[] = R"(
INSERT INTO removed(job) SELECT id FROM job WHERE collection = ?1)";
constexpr char kDeleteProgressOf[] = R"(
DELETE FROM progress WHERE job IN (SELECT id FROM job WHERE collection = ?1))";
constexpr char kDeleteStartedOf[] = R"(
DELETE FROM started WHERE job IN (SELECT id FROM job WHERE collection = ?1))";
constexpr char kDeleteJobsOf[] = "DELETE FROM job WHERE collection = ?1";

// One row, and no SELECT: SQLite need not be ready then to undo a part of it.
constexpr char kInsertJob[] = R"(
INSERT INTO job(id, collection, folded, name, definition, secrets, error_secrets, mac)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING)";
constexpr char kLastRemoved[] = "SELECT job FROM removed ORDER BY job DESC LIMIT 1";
constexpr char kIsRemoved[] = "SELECT 1 FROM removed WHERE job = ?1";

constexpr char kUpdateJob[] = R"(
UPDATE job SET definition = ?5, secrets = ?6, error_secrets = ?7, mac = ?8
WHERE id = ?1 AND folded = ?3 AND collection = ?2
  AND EXISTS (SELECT 1 FROM progress WHERE job = ?1 AND gen = ?4))";

constexpr char kFindCollection[] = "SELECT id FROM collection WHERE folded = ?1";
constexpr char kCountJobs[] = "UPDATE collection SET jobs = jobs + ?2 WHERE id = ?1";
constexpr char kUncountJob[] = R"(
UPDATE collection SET jobs = jobs - 1 WHERE id = (SELECT collection FROM job WHERE id = ?1))";

constexpr char kInsertProgress[] = R"(
INSERT INTO progress(collection, job, gen, state, due, scheduled_for, seq, origin, role, retry,
                     last_seq, ran, last_execution, executions, failures, faults,
                     covered_until, owed_until, retry_interval, ended, defined_at, suspended)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
        ?21, ?22))";

constexpr char kUpdateProgress[] = R"(
UPDATE progress SET gen = ?3, state = ?4, due = ?5, scheduled_for = ?6, seq = ?7, origin = ?8,
                    role = ?9, retry = ?10, last_seq = ?11, ran = ?12, last_execution = ?13,
                    executions = ?14, failures = ?15, faults = ?16, covered_until = ?17,
                    owed_until = ?18, retry_interval = ?19, ended = ?20, defined_at = ?21,
                    suspended = ?22
WHERE job = ?1 AND gen = ?2)";

// For a job that runs and goes on running. Columns that are not named cost nothing, nor do the
// indexes on them.
constexpr char kAdvanceEnabled[] = R"(
UPDATE progress SET due = ?3, scheduled_for = ?4, seq = ?5, origin = ?6, role = ?7, retry = ?8,
                    last_seq = ?9, ran = ?10, last_execution = ?11, executions = ?12,
                    failures = ?13, faults = ?14, covered_until = ?15, owed_until = ?16
WHERE job = ?1 AND gen = ?2 AND state = 0 AND ended IS NULL AND suspended IS NULL)";
static_assert(static_cast<int>(JobState::enabled) == 0);

constexpr char kFindProgressOfGen[] = "SELECT 1 FROM progress WHERE job = ?1 AND gen = ?2";
constexpr char kStart[] = R"(
INSERT OR REPLACE INTO started(job, at, covered_until) VALUES (?1, ?2, ?3))";
constexpr char kDeleteStarted[] = "DELETE FROM started WHERE job = ?1";

constexpr char kFindProgress[] = "SELECT 1 FROM progress WHERE job = ?1";
constexpr char kDeleteProgress[] = "DELETE FROM progress WHERE job = ?1 AND gen = ?2";
constexpr char kDeleteJob[] = "DELETE FROM job WHERE id = ?1";
constexpr char kRemoveJob[] = "INSERT INTO removed(job) VALUES (?1)";

// What it did before it asked is known as far as its last rows tell.
constexpr char kCountSuccess[] = R"(
INSERT INTO counted(job, last_success)
SELECT ?1, (SELECT ended FROM (SELECT role, status, ended, seq FROM history WHERE job = ?1
                               ORDER BY seq DESC, role DESC, retry DESC LIMIT 100)
            WHERE role = 0 AND status = 0 ORDER BY seq DESC LIMIT 1)
WHERE true ON CONFLICT DO NOTHING)";
constexpr char kUncount[] = "DELETE FROM counted WHERE job = ?1";
constexpr char kUncountAllOf[] = R"(
DELETE FROM counted WHERE job IN (SELECT id FROM job WHERE collection = ?1))";
constexpr char kSucceeded[] = R"(
UPDATE counted SET last_success = max(coalesce(last_success, ?2), ?2) WHERE job = ?1)";

constexpr char kInsertHistory[] = R"(
INSERT INTO history(job, seq, role, retry, status, scheduled_for, repeat, started, ended,
                    gap_last, gap_count, message)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING)";

constexpr char kReplaceHistory[] = R"(
INSERT INTO history(job, seq, role, retry, status, scheduled_for, repeat, started, ended,
                    gap_last, gap_count, message)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT(job, seq, role, retry) DO UPDATE SET
  status = ?5, scheduled_for = ?6, repeat = ?7, started = ?8, ended = ?9, gap_last = ?10,
  gap_count = ?11, message = ?12)";

constexpr char kFirstRemoved[] = "SELECT job FROM removed LIMIT 1";
constexpr char kForgetRemoved[] = "DELETE FROM removed WHERE job = ?1";
constexpr char kDeleteHistoryOf[] = R"(
DELETE FROM history WHERE id IN (SELECT id FROM history WHERE job = ?1 LIMIT ?2))";

// That the state is not 0 is said for SQLite, which else would not take the index.
constexpr char kEndedJobs[] = R"(
SELECT job FROM progress INDEXED BY progress_at_rest
WHERE state <> 0 AND state = ?1 AND ended < ?2 ORDER BY ended LIMIT ?3)";
constexpr char kDeleteEndedProgress[] = "DELETE FROM progress WHERE job = ?1";

// Rows are written in the order of time, so the old ones are the first ones.
constexpr char kDeleteOldHistory[] = R"(
DELETE FROM history
WHERE id IN (SELECT id FROM history WHERE id > ?1 ORDER BY id LIMIT ?2) AND ended < ?3)";
constexpr char kLastIfAllEndedAfter[] = R"(
SELECT max(id) FROM (SELECT id, ended FROM history WHERE id > ?1 ORDER BY id LIMIT ?2)
HAVING min(ended) > ?3)";

WriteResult applied_if(bool condition) {
  return condition ? WriteResult::applied : WriteResult::refused;
}

void write_history_row(Connection& db, const char* sql, const HistoryEntry& row) {
  std::apply([&](const auto&... values) { db.run(sql, values...); }, history_values(row));
}

void insert_history(Connection& db, const std::vector<HistoryEntry>& rows) {
  for (const HistoryEntry& row : rows) write_history_row(db, kInsertHistory, row);
}

void write_started(Connection& db, const Job& job) {
  if (job.next && job.next->started) {
    db.run(kStart, job.id, *job.next->started, job.covered_until);
  } else {
    db.run(kDeleteStarted, job.id);
  }
}

void insert_progress(Connection& db, std::int64_t collection, const Job& job) {
  std::apply([&](const auto&... values) { db.run(kInsertProgress, collection, job.id, values...); },
             progress_values(job));
}

// What changes while a job runs, for a job that goes on running.
bool update_running(Connection& db, const Job& job) {
  if (job.state != JobState::enabled || job.ended || is_suspended(job)) return false;
  return std::apply(
      [&](const auto&... values) {
        return db.run(kAdvanceEnabled, job.id, job.gen, values...) == 1;
      },
      running_values(job));
}

bool update_progress(Connection& db, const Job& job, std::int64_t expected_gen) {
  return std::apply(
      [&](const auto&... values) {
        return db.run(kUpdateProgress, job.id, expected_gen, values...) == 1;
      },
      progress_values(job));
}

bool advance(Connection& db, const Job& job, Advance what) {
  const bool known = what == Advance::begun
                         ? db.value(kFindProgressOfGen, job.id, job.gen).has_value()
                         : update_running(db, job) || update_progress(db, job, job.gen);
  if (known) write_started(db, job);
  return known;
}

// On an error the connection fails.
SealedDefinition sealed(Connection& db, const Sealer& sealer, const Job& job) {
  auto out = seal_definition(sealer, job);
  if (out) return *std::move(out);
  db.fail(out.error());
  return {};
}

bool is_counted(const Job& job) {
  return job.definition->metrics.value_or(false);
}

// Of most jobs nothing is written here.
void note_success(Connection& db, const Job& job, const std::vector<HistoryEntry>& rows) {
  if (!is_counted(job)) return;
  for (const HistoryEntry& row : rows) {
    const bool success = row.role == ActionRole::main && row.status == HistoryStatus::completed;
    if (success) db.run(kSucceeded, job.id, row.ended);
  }
}

// All of it but its progress, which went first.
void remove_job(Connection& db, JobId id) {
  db.run(kDeleteStarted, id);
  db.run(kUncountJob, id);
  db.run(kUncount, id);
  db.run(kDeleteJob, id);
  db.run(kRemoveJob, id);
}

std::size_t sweep_removed(Connection& db, std::size_t limit) {
  std::size_t left = limit;
  while (left > 0) {
    const auto job = db.value(kFirstRemoved);
    if (!job) break;
    left -= static_cast<std::size_t>(db.run(kDeleteHistoryOf, *job, left));
    if (left > 0) left -= static_cast<std::size_t>(db.run(kForgetRemoved, *job));
  }
  return limit - left;
}

std::size_t sweep_ended(Connection& db, JobState state, Instant before, std::size_t limit) {
  std::vector<JobId> ended;
  for (Rows rows = db.query(kEndedJobs, state, before, limit); rows.next();) {
    ended.push_back(JobId{rows.integer()});
  }
  for (const JobId job : ended) {
    db.run(kDeleteEndedProgress, job);
    remove_job(db, job);
  }
  return ended.size();
}

std::size_t sweep_old(Connection& db, const SweepLimits& limits, std::size_t limit,
                      std::int64_t& passed_over) {
  const auto gone = db.run(kDeleteOldHistory, passed_over, limit, limits.history_before);
  if (gone == 0 && limit > 0) {
    // From the beginning again once it came to others: it may be today's clock that is wrong.
    passed_over = db.value(kLastIfAllEndedAfter, passed_over, limit, limits.now).value_or(0);
  }
  return static_cast<std::size_t>(gone);
}

}  // namespace

WriteResult SqliteBatch::apply(const Write& write) {
  return std::visit([this](const auto& one) { return apply_one(one); }, write);
}

void SqliteBatch::finish() {
  for (const auto& [collection, more] : more_jobs_) db_.run(kCountJobs, collection, more);
  more_jobs_.clear();
  audit_.finish();
}

WriteResult SqliteBatch::apply_one(const PutCollection& write) {
  const JobCollection& it = write.collection;
  ASSERT(it.gen != kGenAbsent);
  const std::string mac = sealer_.mac(mac_text(it));
  const auto values = std::make_tuple(
      std::string_view(it.location), tags_text(it.tags), it.sku, it.state, it.quota.max_job_count,
      it.quota.max_recurrence.frequency, it.quota.max_recurrence.interval, it.gen, Blob{mac});
  const std::string key = folded(it.key);
  const auto changed = std::apply(
      [&](const auto&... rest) {
        return write.expected_gen == kGenAbsent
                   ? db_.run(kInsertCollection, key, it.key.subscription, it.key.resource_group,
                             it.key.name, rest...)
                   : db_.run(kUpdateCollection, key, write.expected_gen, rest...);
      },
      values);
  return applied_if(changed == 1);
}

WriteResult SqliteBatch::apply_one(const DeleteCollection& write) {
  const std::string key = folded(write.key);
  const auto id = db_.value(kFindCollectionOfGen, key, write.expected_gen);
  if (!id) return WriteResult::refused;
  collections_.erase(key);
  more_jobs_.erase(*id);
  last_removed_.reset();
  db_.run(kRemoveJobsOf, *id);
  db_.run(kDeleteProgressOf, *id);
  db_.run(kDeleteStartedOf, *id);
  db_.run(kUncountAllOf, *id);
  db_.run(kDeleteJobsOf, *id);
  db_.run(kDeleteCollection, *id);
  return WriteResult::applied;
}

WriteResult SqliteBatch::apply_one(const PutJob& write) {
  ASSERT(write.job.gen != kGenAbsent);
  const bool put =
      write.expected_gen == kGenAbsent ? insert(write.job) : replace(write.job, write.expected_gen);
  if (!put) return WriteResult::refused;
  insert_history(db_, write.rows);
  if (is_counted(write.job)) {
    db_.run(kCountSuccess, write.job.id);
    note_success(db_, write.job, write.rows);
  } else if (write.expected_gen != kGenAbsent) {
    db_.run(kUncount, write.job.id);
  }
  return WriteResult::applied;
}

WriteResult SqliteBatch::apply_one(const DeleteJob& write) {
  if (db_.run(kDeleteProgress, write.id, write.expected_gen) == 0) return WriteResult::refused;
  last_removed_.reset();
  remove_job(db_, write.id);
  return WriteResult::applied;
}

WriteResult SqliteBatch::apply_one(const AdvanceJob& write) {
  if (!advance(db_, write.job, write.what)) return WriteResult::refused;
  insert_history(db_, write.rows);
  note_success(db_, write.job, write.rows);
  return WriteResult::applied;
}

WriteResult SqliteBatch::apply_one(const AddHistory& write) {
  for (const HistoryEntry& row : write.rows) {
    if (db_.value(kFindProgress, row.job)) write_history_row(db_, kReplaceHistory, row);
  }
  return WriteResult::applied;
}

WriteResult SqliteBatch::apply_one(const AppendAudit& write) {
  audit_.append(write.entry);
  return WriteResult::applied;
}

std::optional<std::int64_t> SqliteBatch::id_of(const std::string& folded_collection) {
  const auto known = collections_.find(folded_collection);
  if (known != collections_.end()) return known->second;
  const auto id = db_.value(kFindCollection, folded_collection);
  if (id) collections_.emplace(folded_collection, *id);
  return id;
}

// New ids are larger than all there were, so that looking at the largest once is enough.
bool SqliteBatch::is_being_removed(JobId id) {
  if (!last_removed_) last_removed_ = JobId{db_.value(kLastRemoved).value_or(0)};
  return id <= *last_removed_ && db_.value(kIsRemoved, id);
}

// An id whose history is still being removed is not free: that history would become the new job's.
bool SqliteBatch::insert(const Job& job) {
  const auto collection = id_of(folded(job.key->collection));
  if (!collection || is_being_removed(job.id)) return false;
  const auto stored = sealed(db_, sealer_, job);
  const auto inserted = db_.run(kInsertJob, job.id, *collection, folded(job.key->name),
                                job.key->name, stored.document, as_blob(stored.main_secrets),
                                as_blob(stored.error_secrets), Blob{stored.mac});
  if (inserted == 0) return false;
  insert_progress(db_, *collection, job);
  if (job.next && job.next->started) write_started(db_, job);
  ++more_jobs_[*collection];
  return true;
}

bool SqliteBatch::replace(const Job& job, std::int64_t expected_gen) {
  const auto collection = id_of(folded(job.key->collection));
  if (!collection) return false;
  const auto stored = sealed(db_, sealer_, job);
  const auto updated =
      db_.run(kUpdateJob, job.id, *collection, folded(job.key->name), expected_gen, stored.document,
              as_blob(stored.main_secrets), as_blob(stored.error_secrets), Blob{stored.mac});
  if (updated == 0 || !update_progress(db_, job, expected_gen)) return false;
  write_started(db_, job);
  return true;
}

std::size_t sweep_rows(Connection& db, const SweepLimits& limits, std::int64_t& passed_over) {
  std::size_t left = limits.limit;
  left -= sweep_removed(db, left);
  left -= sweep_ended(db, JobState::completed, limits.ended_before, left);
  left -= sweep_ended(db, JobState::faulted, limits.ended_before, left);
  left -= sweep_old(db, limits, left, passed_over);
  return limits.limit - left;
}

}  // namespace belfry
