// SPDX-License-Identifier: MIT

#include "store/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <thread>
#include <utility>

#include "base/failpoint.h"
#include "store/key_file.h"
#include "store/sqlite_audit.h"
#include "store/sqlite_facts.h"
#include "store/sqlite_history.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_open.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_tokens.h"
#include "store/sqlite_unopened.h"
#include "store/sqlite_writes.h"

namespace belfry {

namespace {

constexpr char kBegin[] = "BEGIN IMMEDIATE";
constexpr char kBeginReading[] = "BEGIN";
constexpr char kCommit[] = "COMMIT";
constexpr char kRollback[] = "ROLLBACK";

const std::string kOneCollection =
    std::string(kSelectCollection) + "FROM collection AS c WHERE folded = ?1";
const std::string kCollections = std::string(kSelectCollection) + R"(
FROM collection AS c WHERE folded > ?1 AND folded < ?2 ORDER BY folded LIMIT ?3)";
constexpr char kCountCollections[] = R"(
SELECT count(*), coalesce(sum(sku = ?3), 0) FROM collection WHERE folded > ?1 AND folded < ?2)";
constexpr char kCountJobs[] = "SELECT jobs FROM collection WHERE folded = ?1";

// CROSS JOIN: in this order, whatever SQLite believes of the tables' sizes.
const std::string kFromCollection = R"(
FROM collection AS c CROSS JOIN job AS j ON j.collection = c.id
                     CROSS JOIN progress AS p ON p.job = j.id
                     LEFT JOIN started AS s ON s.job = j.id
)";
const std::string kWaiting = kSelectWaitingJob + R"(
FROM progress AS p INDEXED BY progress_due CROSS JOIN job AS j ON j.id = p.job
                                           CROSS JOIN collection AS c ON c.id = j.collection
WHERE p.due IS NOT NULL AND p.due < ?4
  AND NOT EXISTS (SELECT 1 FROM started WHERE started.job = p.job))";
// From a place on is what is due in its instant, and what is due after it: of a comparison of both
// columns at once SQLite would look up the first alone, and thousands may be due in one instant.
const std::string kInInstant = " AND p.due = ?2 AND p.job >= ?3";
const std::string kAfterInstant = " AND p.due > ?2";
const std::string kEarliestFirst = " ORDER BY p.due, p.job LIMIT ?1";
// The collections are found once; a job that is passed over costs a step in the index.
const std::string kOfCollections = R"( AND ?5 = (p.collection IN (
SELECT k.id FROM json_each(?6) AS n CROSS JOIN collection AS k
WHERE k.folded > n.value || '/' AND k.folded < n.value || '0')))";
const std::string kDueIn = kWaiting + kInInstant + kEarliestFirst;
const std::string kDueAfter = kWaiting + kAfterInstant + kEarliestFirst;
const std::string kDueInOf = kWaiting + kInInstant + kOfCollections + kEarliestFirst;
const std::string kDueAfterOf = kWaiting + kAfterInstant + kOfCollections + kEarliestFirst;
const std::string kStarted = kSelectJob + R"(
FROM started AS s CROSS JOIN progress AS p ON p.job = s.job
                  CROSS JOIN job AS j ON j.id = p.job
                  CROSS JOIN collection AS c ON c.id = j.collection
WHERE p.suspended IS NULL LIMIT ?1)";
const std::string kOneJob = kSelectJob + kFromCollection + "WHERE c.folded = ?1 AND j.folded = ?2";
constexpr char kJobName[] = R"(
SELECT c.subscription, c.resource_group, c.name, j.id, j.name
FROM collection AS c CROSS JOIN job AS j ON j.collection = c.id
WHERE c.folded = ?1 AND j.folded = ?2)";
const std::string kJobs = kSelectJob + kFromCollection + R"(
WHERE c.folded = ?1 AND j.folded > ?2 AND (?3 IS NULL OR p.state = ?3)
ORDER BY j.folded LIMIT ?4 OFFSET ?5)";

Error broken_error() {
  return {ErrorCode::unavailable,
          "the disk did not confirm a write: belfry must be restarted to read what it holds", ""};
}

// What a row says of itself has a MAC; the column by which it is found has none.
void expect_name(Rows& rows, bool same) {
  if (same) return;
  rows.fail({ErrorCode::internal,
             "a row stands under a wrong name: it was not written by Belfry, somebody else has "
             "changed the store",
             ""});
}

// All keys of a prefix stand between `prefix/` and `prefix0`, 0 being what follows the slash.
struct KeyRange {
  std::string after;
  std::string before;
};

KeyRange below(const std::string& prefix) {
  return {prefix + '/', prefix + '0'};
}

KeyRange range_of(const CollectionQuery& query) {
  std::string prefix = folded(query.subscription);
  if (query.resource_group) prefix += '/' + folded(*query.resource_group);
  KeyRange range = below(prefix);
  range.after = std::max(range.after, query.after);
  return range;
}

DuePlace place_after(const DuePlace& place) {
  if (place.job == JobId{std::numeric_limits<std::int64_t>::max()}) {
    return {place.due + kOneTick, JobId{std::numeric_limits<std::int64_t>::min()}};
  }
  return {place.due, JobId{static_cast<std::int64_t>(place.job) + 1}};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& wanted) {
  if (const auto made = make_directory(wanted.directory); !made) return made.error();
  TRY_ASSIGN(auto lock, DirectoryLock::take(wanted.directory));
  if (const auto made = make_database_file(wanted); !made) return made.error();
  auto vfs = std::make_unique<LogVfs>(wanted.vfs);
  SqliteOptions options = wanted;
  options.vfs = vfs->name();
  TRY_ASSIGN(OpenedWriter opened, open_writer(options));
  auto store = std::unique_ptr<SqliteStore>(new SqliteStore(std::move(lock), std::move(vfs),
                                                            std::move(opened.writer),
                                                            std::move(opened.sealer), options));
  if (const auto started = store->start_checkpointer(options); !started) return started.error();
  return store;
}

SqliteStore::SqliteStore(DirectoryLock lock, std::unique_ptr<LogVfs> vfs,
                         std::unique_ptr<Connection> writer, Sealer sealer,
                         const SqliteOptions& options)
    : lock_(std::move(lock)),
      vfs_(std::move(vfs)),
      database_(database_path(options.directory)),
      key_file_(key_file_of(options)),
      sealer_(std::move(sealer)),
      checkpoint_pages_(options.checkpoint_pages),
      checkpoint_at_(options.checkpoint_pages),
      on_broken_(options.on_broken),
      writer_(std::move(writer)),
      readers_([options] { return open_reader(options); }, kReadersMax) {}

SqliteStore::~SqliteStore() {
  if (!broken_) return;
  readers_.keep_log_on_close();
  writer_->keep_log_on_close();
  if (checkpointer_) checkpointer_->keep_log_on_close();
}

Status SqliteStore::start_checkpointer(const SqliteOptions& options) {
  if (options.checkpoints == Checkpoints::in_commits) return Done{};
  TRY_ASSIGN(auto connection, open_second_writer(options));
  checkpointer_ = std::make_unique<Checkpointer>(
      std::move(connection), writer_mutex_,
      [this](const SqliteFailure& failure) { note_failure(failure); });
  return Done{};
}

void SqliteStore::note_failure(const SqliteFailure& failure) {
  if (failure.sync_failed()) break_down();
}

void SqliteStore::break_down() {
  if (!broken_.exchange(true) && on_broken_) on_broken_();
}

Error SqliteStore::undo(ErrorCode code) {
  SqliteFailure failure = writer_->take_failure();
  note_failure(failure);
  // A failure may have ended the transaction by itself.
  if (writer_->in_transaction()) writer_->run(kRollback);
  if (writer_->failed()) note_failure(writer_->take_failure());
  if (writer_->in_transaction()) break_down();
  failure.error.code = code;
  return failure.error;
}

template <typename Body>
Status SqliteStore::transaction(Body body) {
  const std::lock_guard lock(writer_mutex_);
  if (broken_) return broken_error();
  if (writer_->in_transaction()) writer_->run(kRollback);  // in which the committer has read
  writer_->run(kBegin);
  body(*writer_);
  if (writer_->failed()) return undo(ErrorCode::unavailable);
  writer_->run(kCommit);
  if (writer_->failed()) return undo(ErrorCode::unknown);
  checkpoint_if_due();
  return Done{};
}

void SqliteStore::checkpoint_if_due() {
  const int pages = writer_->log_pages();
  // The log began anew: all of it had been copied, and no reader needed it any more.
  if (pages < checkpoint_at_ - checkpoint_pages_) checkpoint_at_ = checkpoint_pages_;
  if (pages < checkpoint_at_) return;
  checkpoint_at_ = pages + checkpoint_pages_;
  if (checkpointer_) {
    checkpointer_->request(pages < checkpoint_pages_ * kLogTooLong ? LogLength::grown
                                                                   : LogLength::too_long);
    return;
  }
  writer_->checkpoint();
  // What was committed stays so; the log holds it until a checkpoint succeeds.
  if (writer_->failed()) note_failure(writer_->take_failure());
}

Result<std::vector<WriteResult>> SqliteStore::commit(const std::vector<Write>& batch) {
  std::vector<WriteResult> results;
  results.reserve(batch.size());
  committer_ = std::this_thread::get_id();
  const auto done = transaction([&](Connection& db) {
    SqliteBatch one(db, sealer_);
    for (const Write& write : batch) {
      const auto* audit = std::get_if<AppendAudit>(&write);
      const bool moot = audit != nullptr && is_moot(*audit, results);
      results.push_back(moot ? WriteResult::refused : one.apply(write));
      ++writes_tried_;
    }
    one.finish();
  });
  if (!done) return done.error();
  return results;
}

Result<std::size_t> SqliteStore::sweep(const SweepLimits& limits) {
  std::size_t swept = 0;
  // Not at once: somebody may still be reading what there was before.
  if (resealing_.finished()) sealer_.demand_macs();
  const Resealing resealing = resealing_;
  const EchoMasking echoes = echoes_;
  const auto done = transaction([&](Connection& db) {
    swept = sweep_rows(db, limits, history_passed_over_);
    swept += resealing_.step(db, sealer_, limits.limit - swept);
    swept += echoes_.step(db, sealer_, std::min(limits.echoes_max, limits.limit - swept));
  });
  if (done) return swept;
  resealing_ = resealing;
  echoes_ = echoes;
  return done.error();
}

Result<bool> SqliteStore::renew_keys() {
  TRY_ASSIGN(const auto keys, read_key_file(key_file_));
  if (keys.empty()) return missing_key_file(key_file_, sealer_.sealing_key_id());
  if (keys.front().id() == sealer_.sealing_key_id()) return false;
  const auto done = transaction([&](Connection& db) {
    if (const auto fit = check_fit(key_file_, keys, keys_in_use(db)); !fit) db.fail(fit.error());
    remember_key(db, sealer_, keys.front().id());
  });
  if (!done) return done.error();
  FAILPOINT("key-taken-up");
  sealer_.take(keys);
  return true;
}

Result<std::vector<JobName>> SqliteStore::unopened_jobs(JobId after, std::size_t limit) {
  return read([&](Connection& db) { return belfry::unopened_jobs(db, after, limit); });
}

Status SqliteStore::strike_unopened(JobId job) {
  return transaction([&](Connection& db) { belfry::strike_unopened(db, job); });
}

template <typename Read>
auto SqliteStore::read_with(Connection& db, Read body) -> Result<decltype(body(db))> {
  if (broken_) return broken_error();
  auto out = body(db);
  if (!db.failed()) return out;
  const auto failure = db.take_failure();
  note_failure(failure);
  return failure.error;
}

template <typename Read>
auto SqliteStore::read(Read body) -> Result<decltype(body(std::declval<Connection&>()))> {
  if (committer_.load() == std::this_thread::get_id()) {
    const std::lock_guard lock(writer_mutex_);
    if (!writer_->in_transaction()) writer_->run(kBeginReading);
    return read_with(*writer_, body);
  }
  TRY_ASSIGN(const auto lease, readers_.take());
  return read_with(*lease, body);
}

SqliteStore::JobPage SqliteStore::read_page(Rows rows) {
  JobPage page;
  while (rows.next()) {
    ReadJob read = read_job(rows, sealer_);
    ++page.rows;
    page.last = {read.job.next ? read.job.next->due : kFirstInstant, read.job.id};
    page.last_key = read.job.key;
    if (read.definition) {
      page.jobs.push_back(std::move(read.job));
    } else {
      unreadable_.note(read.job, read.definition.error());
    }
  }
  return page;
}

template <typename... Values>
Result<SqliteStore::JobPage> SqliteStore::engine_jobs(const std::string& sql,
                                                      const Values&... values) {
  const std::lock_guard lock(writer_mutex_);
  return read_with(*writer_,
                   [&](Connection& db) { return read_page(db.query(sql.c_str(), values...)); });
}

Result<SqliteStore::JobPage> SqliteStore::due_page(const DueQuery& query) {
  const bool theirs = query.of == DueOf::them;
  const bool everybody = query.subscriptions.empty() && !theirs;
  const boost::json::array named(query.subscriptions.begin(), query.subscriptions.end());
  const std::string names = boost::json::serialize(named);
  const auto ask = [&](const std::string& of_all, const std::string& of_some, std::size_t limit) {
    const std::int64_t rows = bounded(limit);
    if (everybody) return engine_jobs(of_all, rows, query.from.due, query.from.job, query.before);
    return engine_jobs(of_some, rows, query.from.due, query.from.job, query.before,
                       std::int64_t{theirs}, names);
  };
  TRY_ASSIGN(JobPage page, ask(kDueIn, kDueInOf, query.limit));
  if (page.rows >= query.limit) return page;
  TRY_ASSIGN(JobPage later, ask(kDueAfter, kDueAfterOf, query.limit - page.rows));
  std::move(later.jobs.begin(), later.jobs.end(), std::back_inserter(page.jobs));
  page.rows += later.rows;
  page.last = later.last;
  return page;
}

// What cannot be used is passed over, however much of it stands in front.
Result<std::vector<Job>> SqliteStore::due(const DueQuery& query) {
  std::vector<Job> jobs;
  DueQuery rest = query;
  while (true) {
    TRY_ASSIGN(JobPage page, due_page(rest));
    std::move(page.jobs.begin(), page.jobs.end(), std::back_inserter(jobs));
    if (page.rows < rest.limit || jobs.size() >= query.limit) return jobs;
    rest.limit = query.limit - jobs.size();
    rest.from = place_after(page.last);
  }
}

Result<std::vector<Job>> SqliteStore::started(std::size_t limit) {
  TRY_ASSIGN(JobPage page, engine_jobs(kStarted, bounded(limit)));
  return std::move(page.jobs);
}

Result<std::optional<JobCollection>> SqliteStore::collection(const CollectionKey& key) {
  return read([&](Connection& db) {
    std::optional<JobCollection> out;
    Rows rows = db.query(kOneCollection.c_str(), folded(key));
    if (!rows.next()) return out;
    out = read_collection(rows, sealer_);
    expect_name(rows, same(out->key, key));
    return out;
  });
}

Result<std::vector<JobCollection>> SqliteStore::collections(const CollectionQuery& query) {
  return read([&](Connection& db) {
    std::vector<JobCollection> out;
    const KeyRange range = range_of(query);
    for (Rows rows =
             db.query(kCollections.c_str(), range.after, range.before, bounded(query.limit));
         rows.next();) {
      out.push_back(read_collection(rows, sealer_));
      const std::string name = folded(out.back().key);
      expect_name(rows, range.after < name && name < range.before);
    }
    return out;
  });
}

Result<SkuCounts> SqliteStore::count_collections(const std::string& subscription, Sku sku) {
  return read([&](Connection& db) {
    SkuCounts out;
    const KeyRange range = below(folded(subscription));
    Rows rows = db.query(kCountCollections, range.after, range.before, sku);
    if (rows.next()) out = {.all = rows.integer(), .of_sku = rows.integer()};
    return out;
  });
}

Result<std::optional<Job>> SqliteStore::job(const JobKey& key) {
  return read([&](Connection& db) {
    std::optional<Job> out;
    Rows rows = db.query(kOneJob.c_str(), folded(key.collection), folded(key.name));
    if (!rows.next()) return out;
    ReadJob read = read_job(rows, sealer_);
    if (!read.definition) rows.fail(read.definition.error());
    expect_name(rows, same(*read.job.key, key));
    out = std::move(read.job);
    return out;
  });
}

Result<std::optional<JobName>> SqliteStore::job_name(const JobKey& key) {
  return read([&](Connection& db) {
    std::optional<JobName> out;
    Rows rows = db.query(kJobName, folded(key.collection), folded(key.name));
    if (!rows.next()) return out;
    out.emplace();
    out->key.collection = read_collection_key(rows);
    out->id = JobId{rows.integer()};
    out->key.name = rows.text();
    expect_name(rows, same(out->key, key));
    return out;
  });
}

Result<std::vector<Job>> SqliteStore::jobs(const JobQuery& query) {
  std::vector<Job> jobs;
  JobQuery rest = query;
  while (true) {
    TRY_ASSIGN(JobPage page, read([&](Connection& db) {
                 return read_page(db.query(kJobs.c_str(), folded(rest.collection), rest.after,
                                           rest.state, bounded(rest.limit), bounded(rest.skip)));
               }));
    std::move(page.jobs.begin(), page.jobs.end(), std::back_inserter(jobs));
    if (page.rows < rest.limit || jobs.size() >= query.limit) return jobs;
    rest.limit = query.limit - jobs.size();
    rest.skip = 0;
    rest.after = folded(page.last_key->name);
  }
}

Result<std::int64_t> SqliteStore::count_jobs(const CollectionKey& key) {
  return read([&](Connection& db) { return db.value(kCountJobs, folded(key)).value_or(0); });
}

Result<std::vector<HistoryEntry>> SqliteStore::history(const HistoryQuery& query) {
  return read([&](Connection& db) { return list_history(db, query); });
}

Status SqliteStore::add_token(const Token& token, const AuditEntry& entry) {
  Status added = Done{};
  const auto done = transaction([&](Connection& db) {
    added = insert_token(db, sealer_, token);
    if (added) append_audit(db, entry);
  });
  return done ? added : done;
}

Result<bool> SqliteStore::revoke_token(const std::string& id, const AuditEntry& entry) {
  bool revoked = false;
  const auto done = transaction([&](Connection& db) {
    revoked = mark_token_revoked(db, sealer_, id, entry.at);
    if (revoked) append_audit(db, entry);
  });
  if (!done) return done.error();
  return revoked;
}

Result<std::optional<Token>> SqliteStore::token(const std::string& id) {
  return read([&](Connection& db) { return find_token(db, sealer_, id); });
}

Result<std::vector<Token>> SqliteStore::tokens(const std::string& after, std::size_t limit) {
  return read([&](Connection& db) { return list_tokens(db, sealer_, after, limit); });
}

Result<std::vector<AuditRow>> SqliteStore::audit_rows(const AuditQuery& query) {
  return read([&](Connection& db) { return list_audit(db, query); });
}

Result<JobCounts> SqliteStore::count_jobs_by_state() {
  return read([](Connection& db) { return belfry::count_jobs_by_state(db); });
}

Result<std::optional<Instant>> SqliteStore::earliest_due() {
  return read([](Connection& db) { return belfry::earliest_due(db); });
}

Result<std::vector<LastSuccess>> SqliteStore::last_successes() {
  return read([](Connection& db) { return belfry::last_successes(db); });
}

Result<std::int64_t> SqliteStore::count_counted_jobs(const JobKey& besides) {
  return read([&](Connection& db) { return belfry::count_counted_jobs(db, besides); });
}

}  // namespace belfry
