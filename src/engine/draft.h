// SPDX-License-Identifier: MIT
//
// Draft is what one step wants to write, on top of what is stored. Whoever reads through it
// sees the step's earlier changes, so that two commands of one step know of each other, and
// a job that changes twice is written once.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/audit.h"
#include "model/collection.h"
#include "model/history.h"
#include "model/job.h"
#include "store/store.h"

namespace belfry {

class Draft {
 public:
  explicit Draft(Store& store) : store_(store) {}

  Result<std::optional<JobCollection>> collection(const CollectionKey& key);
  Result<std::optional<Job>> job(const JobKey& key);
  Result<std::vector<Job>> jobs_of(const CollectionKey& key);
  Result<std::int64_t> count_jobs(const CollectionKey& key);
  Result<SkuCounts> count_collections(const std::string& subscription, Sku sku);
  bool touched(const Job& job) const;  // changed or removed by a command of this step

  void put(const JobCollection& collection);
  void remove(const JobCollection& collection);  // and its jobs

  // `put` writes the whole job, `advance` only how far it has come.
  void put(Job job, std::vector<HistoryEntry> rows);
  void advance(Job job, std::vector<HistoryEntry> rows, Advance what = Advance::any);
  void remove(const Job& job);
  void add_rows(std::vector<HistoryEntry> rows);

  // A row of the audit log that tells of what was done to the thing of that folded key.
  void add_audit(std::string key, AuditEntry entry);

  // Nothing was asked of it. What was put and removed again leaves no write, and is asked all
  // the same.
  bool empty() const;

  // The writes in an order in which they can be applied, each with the folded key it is about;
  // without one where no command can have been about it.
  // The draft's jobs move into them: after this it can only say what it removed.
  struct Keyed {
    std::vector<Write> writes;
    std::vector<std::string_view> keys;  // they live as long as the draft
  };
  Keyed take_writes();

  // For the engine, once the writes are durable.
  const std::vector<JobId>& removed_jobs() const { return removed_jobs_; }
  const std::vector<CollectionKey>& removed_collections() const { return removed_collections_; }

 private:
  struct JobDraft {
    std::optional<Job> job;  // empty: removed in this step
    JobId stored_id{};
    std::int64_t stored_gen = kGenAbsent;
    bool whole = false;
    Advance what = Advance::any;  // unless it is whole
    std::vector<HistoryEntry> rows;
    int counted = 0;  // of it in more_jobs_
  };
  struct CollectionDraft {
    std::optional<JobCollection> collection;  // empty: removed in this step
    std::optional<JobCollection> stored;
    bool removed_stored = false;  // what was stored goes first, with its jobs
  };

  // The draft of a job that is being changed, begun with what is stored.
  JobDraft& draft_of(const Job& job);
  void name_advanced();
  void count(JobDraft& draft, const CollectionKey& key);
  Result<std::int64_t> stored_count(const std::string& name, const CollectionKey& key);
  void take_audit(Keyed& writes);
  bool stored_jobs_are_gone(const std::string& folded_collection) const;

  Store& store_;
  bool commanded_ = false;  // somebody else than the engine changed something
  // What the engine advanced and nobody asked for by name since. A step without commands needs no
  // names, and most steps of a busy server have none.
  std::vector<AdvanceJob> advanced_;
  // Ordered, so that a simulated run writes in the same order every time.
  std::map<std::string, JobDraft> jobs_;
  std::map<std::string, CollectionDraft> collections_;
  // As read in this step: nobody else writes, so once is enough.
  std::unordered_map<std::string, JobCollection> stored_collections_;
  std::unordered_map<std::string, std::int64_t> stored_counts_;  // of jobs in them
  std::unordered_map<std::string, std::int64_t> stored_gens_;    // of jobs
  // Beside them, added up as they come: a step may have thousands of new ones in one collection.
  std::unordered_map<std::string, std::int64_t> more_jobs_;
  std::vector<HistoryEntry> extra_rows_;
  std::vector<std::pair<std::string, AuditEntry>> audit_;
  std::vector<JobId> removed_jobs_;
  std::vector<CollectionKey> removed_collections_;
};

}  // namespace belfry
