// SPDX-License-Identifier: MIT
//
// MemoryStore keeps everything in maps behind one mutex: for the simulator and for tests. It
// is the store contract in its plainest form, and forgets all when it ends.

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "store/audit_log.h"
#include "store/store.h"
#include "store/token_store.h"

namespace belfry {

class MemoryStore : public Store, public TokenStore, public AuditLog {
 public:
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

 private:
  struct StoredCollection {
    JobCollection collection;
    std::map<std::string, JobId> jobs;  // by folded name
  };
  using History = std::map<HistoryPlace, HistoryEntry>;

  WriteResult apply(const PutCollection& write);
  WriteResult apply(const DeleteCollection& write);
  WriteResult apply(const PutJob& write);
  WriteResult apply(const DeleteJob& write);
  WriteResult apply(const AdvanceJob& write);
  WriteResult apply(const AddHistory& write);
  WriteResult apply(const AppendAudit& write);

  StoredCollection* find(const CollectionKey& key);
  Job* find(JobId id);
  bool insert(const Job& job);
  bool replace(const Job& job, std::int64_t expected_gen);
  void enlist(const Job& job);
  void unlist(const Job& job);
  void set_progress(Job& stored, const Job& progress);
  void remove_row(const Job& job);
  void add_history(const std::vector<HistoryEntry>& rows);
  void append_audit(const AuditEntry& entry);

  std::size_t sweep_removed(std::size_t limit);
  std::size_t sweep_ended(Instant before, std::size_t limit);
  std::size_t sweep_old(Instant before, std::size_t limit);

  std::mutex mutex_;
  std::map<std::string, StoredCollection> collections_;  // by folded key
  std::map<JobId, Job> jobs_;
  std::set<std::pair<Instant, JobId>> waiting_;
  std::set<JobId> started_;
  std::map<JobId, History> history_;
  std::set<JobId> removed_;  // jobs that are gone and whose history is not yet
  std::map<std::string, Token> tokens_;
  std::vector<AuditRow> audit_;
};

}  // namespace belfry
