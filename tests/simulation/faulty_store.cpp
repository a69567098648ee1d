// SPDX-License-Identifier: MIT

#include "tests/simulation/faulty_store.h"

namespace belfry {
namespace {

Error unavailable() {
  return {ErrorCode::unavailable, "The store cannot be reached.", {}};
}

}  // namespace

void FaultyStore::begin_step(const StoreFaults& faults) {
  faults_ = faults;
  reads_ = 0;
  applied_ = false;
  swept_.reset();
}

Result<std::vector<WriteResult>> FaultyStore::commit(const std::vector<Write>& batch) {
  time_.pass(faults_.stall);
  if (faults_.down || faults_.commit == CommitFault::unavailable) return unavailable();
  if (faults_.commit == CommitFault::crash_before) throw Crash{};
  if (faults_.commit != CommitFault::lost_unapplied) {
    auto results = memory_.commit(batch);
    applied_ = true;
    if (on_applied_) on_applied_(batch);
    if (faults_.commit == CommitFault::none) return results;
  }
  if (faults_.commit == CommitFault::crash_after) throw Crash{};
  return Error{ErrorCode::unknown, "The store did not answer.", {}};
}

Result<std::size_t> FaultyStore::sweep(const SweepLimits& limits) {
  if (faults_.down || faults_.sweep_fails) return unavailable();
  swept_ = limits;
  return memory_.sweep(limits);
}

bool FaultyStore::read_fails() {
  return faults_.down || faults_.failing_read == reads_++;
}

Result<std::vector<Job>> FaultyStore::due(const DueQuery& query) {
  if (read_fails()) return unavailable();
  return memory_.due(query);
}

Result<std::vector<Job>> FaultyStore::started(std::size_t limit) {
  if (read_fails()) return unavailable();
  return memory_.started(limit);
}

Result<std::optional<JobCollection>> FaultyStore::collection(const CollectionKey& key) {
  if (read_fails()) return unavailable();
  return memory_.collection(key);
}

Result<std::vector<JobCollection>> FaultyStore::collections(const CollectionQuery& query) {
  if (read_fails()) return unavailable();
  return memory_.collections(query);
}

Result<SkuCounts> FaultyStore::count_collections(const std::string& subscription, Sku sku) {
  if (read_fails()) return unavailable();
  return memory_.count_collections(subscription, sku);
}

Result<std::optional<Job>> FaultyStore::job(const JobKey& key) {
  if (read_fails()) return unavailable();
  return memory_.job(key);
}

Result<std::optional<JobName>> FaultyStore::job_name(const JobKey& key) {
  if (read_fails()) return unavailable();
  return memory_.job_name(key);
}

Result<std::vector<Job>> FaultyStore::jobs(const JobQuery& query) {
  if (read_fails()) return unavailable();
  return memory_.jobs(query);
}

Result<std::int64_t> FaultyStore::count_jobs(const CollectionKey& key) {
  if (read_fails()) return unavailable();
  return memory_.count_jobs(key);
}

Result<std::vector<HistoryEntry>> FaultyStore::history(const HistoryQuery& query) {
  if (read_fails()) return unavailable();
  return memory_.history(query);
}

}  // namespace belfry
