// SPDX-License-Identifier: MIT
//
// Store keeps collections, jobs and history. One thread, the engine's, commits; any thread
// may read, and a reader never waits for the writer.
//
// Holds: when commit() answers, what it applied survives any crash (docs/invariants.md, 5),
// and a batch is applied as one transaction: history and the job's advance together (3). A
// write whose precondition fails is refused alone and changes nothing; the rest is applied.
// An error from commit() means that nothing was applied (unavailable), or that nobody knows
// (unknown): then the engine reads again and assumes nothing.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "model/audit.h"
#include "model/collection.h"
#include "model/history.h"
#include "model/job.h"

namespace belfry {

inline constexpr std::int64_t kGenAbsent = 0;  // "must not exist yet"; no stored gen is that

// Inserted if expected_gen is kGenAbsent, else replaced if that is the stored gen. The names
// stay as they were spelt first.
struct PutCollection {
  JobCollection collection;
  std::int64_t expected_gen = kGenAbsent;
};

// With all its jobs. Their history is swept later.
struct DeleteCollection {
  CollectionKey key;
  std::int64_t expected_gen = kGenAbsent;
};

// The whole row, definition and all, and the rows that tell of it. The collection must exist;
// a new job's id and name must both be free, and an id is not while its history is being swept.
// Names stay as they were spelt first.
struct PutJob {
  Job job;
  std::int64_t expected_gen = kGenAbsent;
  std::vector<HistoryEntry> rows;
};

// History of the job is swept later.
struct DeleteJob {
  JobId id{};
  std::int64_t expected_gen = kGenAbsent;
};

// How far the job has come, without its definition, and the rows that tell of it. Applied
// while the stored gen is job.gen, so that it never undoes an API write; refused when that
// differs or the job is gone, and then its rows are not added either: the engine decides what
// becomes of them. Rows that are there already are left as they are.
// Where the job was only begun the store may write next.started and covered_until alone.
struct AdvanceJob {
  Job job;
  std::vector<HistoryEntry> rows;
  Advance what = Advance::any;
};

// Rows of attempts that lead to nothing any more. Each takes the place of the row that is there
// already: the note that its outcome was unknown. Those of a job that is gone are left out, for
// nobody could ask for them.
struct AddHistory {
  std::vector<HistoryEntry> rows;
};

// A row for the audit log (audit_log.h). It is refused where the write of the same batch that it
// tells of was; the store gives it its number and chains it.
struct AppendAudit {
  AuditEntry entry;
  std::optional<std::size_t> tells_of;  // index in the batch; none: the step left nothing to write
};

using Write = std::variant<PutCollection, DeleteCollection, PutJob, DeleteJob, AdvanceJob,
                           AddHistory, AppendAudit>;
enum class WriteResult { applied, refused };

// What a row of the audit log tells of was refused, by the results so far.
inline bool is_moot(const AppendAudit& audit, const std::vector<WriteResult>& results) {
  return audit.tells_of && results[*audit.tells_of] == WriteResult::refused;
}

struct CollectionQuery {
  std::string subscription;
  std::optional<std::string> resource_group;
  std::string after;  // folded key of the last one seen; empty: from the beginning
  std::size_t limit = 0;
};

struct JobQuery {
  CollectionKey collection;
  std::optional<JobState> state;
  std::string after;  // folded name of the last one seen; empty: from the beginning
  std::size_t skip = 0;
  std::size_t limit = 0;
};

// Of the jobs that wait from the place `from` on and are due before `before`: those of the
// subscriptions named, or all the others.
enum class DueOf { others, them };

struct DueQuery {
  std::size_t limit = 0;
  std::vector<std::string> subscriptions{};  // folded
  DueOf of = DueOf::others;
  DuePlace from{kFirstInstant};
  Instant before = kLastInstant;
};

// Which job a key means, and the key as it was first spelt.
struct JobName {
  JobId id{};
  JobKey key;
};

// The place of a history row among its job's: newest first is from the largest to the smallest.
struct HistoryPlace {
  std::int64_t seq = 0;
  ActionRole role = ActionRole::main;
  int retry = 0;

  auto operator<=>(const HistoryPlace&) const = default;
};

struct HistoryQuery {
  JobId job{};
  std::optional<HistoryStatus> status;
  std::optional<HistoryPlace> before;  // the last one seen; absent: from the newest
  std::size_t skip = 0;
  std::size_t limit = 0;
};

struct SkuCounts {
  std::int64_t all = 0;
  std::int64_t of_sku = 0;
};

// What sweep() may remove: history that ended before `history_before`, jobs that became final
// before `ended_before`, history of jobs that are gone; at most `limit` rows a call. History is
// looked at in the order it was written, so a row that came late goes late; one that ended after
// `now`, because the clock was wrong then, is passed over. Of the rows, at most `echoes_max` are
// looked at for secrets that an older Belfry let in.
struct SweepLimits {
  Instant history_before;
  Instant ended_before;
  std::size_t limit = 0;
  Instant now = kLastInstant;
  std::size_t echoes_max = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // The engine's thread alone.
  virtual Result<std::vector<WriteResult>> commit(const std::vector<Write>& batch) = 0;
  // How many rows went, those of the store's own bookkeeping too; 0: there are no more.
  virtual Result<std::size_t> sweep(const SweepLimits& limits) = 0;

  // Any thread. due(): the jobs that wait, those whose next.due is earliest first, then by id;
  // a started one waits no longer. started(): the jobs whose next.started is set, in any order.
  // What is suspended is in neither.
  // Collections come in the order of their folded keys, jobs of their folded names.
  virtual Result<std::vector<Job>> due(const DueQuery& query) = 0;
  virtual Result<std::vector<Job>> started(std::size_t limit) = 0;
  virtual Result<std::optional<JobCollection>> collection(const CollectionKey& key) = 0;
  virtual Result<std::vector<JobCollection>> collections(const CollectionQuery& query) = 0;
  virtual Result<SkuCounts> count_collections(const std::string& subscription, Sku sku) = 0;
  virtual Result<std::optional<Job>> job(const JobKey& key) = 0;
  virtual Result<std::optional<JobName>> job_name(const JobKey& key) = 0;
  virtual Result<std::vector<Job>> jobs(const JobQuery& query) = 0;
  virtual Result<std::int64_t> count_jobs(const CollectionKey& key) = 0;
  virtual Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) = 0;
};

}  // namespace belfry
