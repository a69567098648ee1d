// SPDX-License-Identifier: MIT
//
// SqliteStore is the store of a single server: one SQLite database in a directory of its own.
//
//   DIRECTORY/belfry.db     the database (and belfry.db-wal, belfry.db-shm beside it)
//   DIRECTORY/belfry.lock   held while a server runs
//   DIRECTORY/secret.key    the keys that seal secrets; not part of a backup
//
// One connection writes, and commits are forced to the disk before they are answered. Whatever the
// thread that commits, the engine's, reads between its commits it reads with that connection too:
// so it neither waits for readers nor fetches again what it has just written. What it reads until
// the next commit or sweep it reads in one transaction, for thousands of commands may have to be
// looked up for one commit. All other threads take a connection of a pool.
//
// When the disk fails to confirm what was written, nobody knows any more what it holds: from
// then on every call is answered `unavailable`, until the store is opened again. The process is
// to end and be restarted; opening reads the log again and copies it to a safe place.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "store/audit_log.h"
#include "store/checkpointer.h"
#include "store/directory_lock.h"
#include "store/log_vfs.h"
#include "store/reader_pool.h"
#include "store/sealer.h"
#include "store/sqlite.h"
#include "store/sqlite_echoes.h"
#include "store/sqlite_open.h"
#include "store/sqlite_reseal.h"
#include "store/store.h"
#include "store/store_facts.h"
#include "store/token_store.h"
#include "store/unreadable_jobs.h"

namespace belfry {

// One more than the threads that read, so that the engine never waits behind them.
inline constexpr std::size_t kReadersMax = 16;

class SqliteStore final : public Store, public TokenStore, public AuditLog, public StoreFacts {
 public:
  // Makes what is missing. Refused where another server has the directory, where a newer
  // Belfry wrote the database, and where the key does not fit what is sealed in it.
  static Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options);
  ~SqliteStore() override;

  // Reads the key file again. Whether it has a new first key, which seals from now on; sweep()
  // then seals anew what the others sealed. On an error the keys stay as they were.
  Result<bool> renew_keys();

  // In the order of their ids: see store/sqlite_unopened.h. Any thread.
  Result<std::vector<JobName>> unopened_jobs(JobId after, std::size_t limit);
  Status strike_unopened(JobId job);

  // Grows with each write of a batch: a large one takes a while, and does not hang. Any thread.
  std::uint64_t writes_tried() const { return writes_tried_; }

  Result<std::vector<WriteResult>> commit(const std::vector<Write>& batch) override;
  Result<std::size_t> sweep(const SweepLimits& limits) override;

  Result<std::vector<Job>> due(const DueQuery& query) override;
  Result<std::vector<Job>> started(std::size_t limit) override;
  Result<std::optional<JobCollection>> collection(const CollectionKey& key) override;
  Result<std::vector<JobCollection>> collections(const CollectionQuery& query) override;
  Result<SkuCounts> count_collections(const std::string& subscription, Sku sku) override;
  Result<std::optional<Job>> job(const JobKey& key) override;
  Result<std::optional<JobName>> job_name(const JobKey& key) override;
  Result<std::vector<Job>> jobs(const JobQuery& query) override;
  Result<std::int64_t> count_jobs(const CollectionKey& key) override;
  Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) override;

  Status add_token(const Token& token, const AuditEntry& entry) override;
  Result<bool> revoke_token(const std::string& id, const AuditEntry& entry) override;
  Result<std::optional<Token>> token(const std::string& id) override;
  Result<std::vector<Token>> tokens(const std::string& after, std::size_t limit) override;
  Result<std::vector<AuditRow>> audit_rows(const AuditQuery& query) override;

  Result<JobCounts> count_jobs_by_state() override;
  Result<std::optional<Instant>> earliest_due() override;
  Result<std::vector<LastSuccess>> last_successes() override;
  Result<std::int64_t> count_counted_jobs(const JobKey& besides) override;
  StoreBytes bytes() const override;

 private:
  SqliteStore(DirectoryLock lock, std::unique_ptr<LogVfs> vfs, std::unique_ptr<Connection> writer,
              Sealer sealer, const SqliteOptions& options);
  Status start_checkpointer(const SqliteOptions& options);

  template <typename Body>
  Status transaction(Body body);
  Error undo(ErrorCode code);
  void checkpoint_if_due();
  void note_failure(const SqliteFailure& failure);
  void break_down();

  // Of jobs that were asked for: those that can be used, how many there were, and the last of them.
  struct JobPage {
    std::vector<Job> jobs;
    std::size_t rows = 0;
    DuePlace last{kFirstInstant};
    Shared<JobKey> last_key;
  };
  JobPage read_page(Rows rows);
  Result<JobPage> due_page(const DueQuery& query);

  template <typename... Values>
  Result<JobPage> engine_jobs(const std::string& sql, const Values&... values);
  template <typename Read>
  auto read(Read body) -> Result<decltype(body(std::declval<Connection&>()))>;
  template <typename Read>
  auto read_with(Connection& db, Read body) -> Result<decltype(body(db))>;

  const DirectoryLock lock_;
  const std::unique_ptr<LogVfs> vfs_;
  const std::filesystem::path database_;
  const std::filesystem::path key_file_;
  Sealer sealer_;
  UnreadableJobs unreadable_;
  Resealing resealing_;                   // of the thread that sweeps
  EchoMasking echoes_;                    // of the same
  std::int64_t history_passed_over_ = 0;  // of the same
  const int checkpoint_pages_;
  int checkpoint_at_;
  const std::function<void()> on_broken_;
  std::atomic<bool> broken_ = false;
  std::atomic<std::uint64_t> writes_tried_ = 0;
  std::atomic<std::thread::id> committer_{};
  std::mutex writer_mutex_;
  const std::unique_ptr<Connection> writer_;
  ReaderPool readers_;
  std::unique_ptr<Checkpointer> checkpointer_;  // none: commits do its work
};

}  // namespace belfry
