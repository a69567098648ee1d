// SPDX-License-Identifier: MIT
//
// FaultyStore is a MemoryStore that fails on request: before it applies, after it has applied
// and lost the answer, while reading, by taking its time, or by the process dying in its
// midst. Those who watch are shown what it applied.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "store/memory_store.h"
#include "tests/simulation/simulated_time.h"

namespace belfry {

// Thrown through the engine: the process dies here.
struct Crash {};

enum class CommitFault {
  none,
  unavailable,     // nothing is applied, and it says so
  lost_unapplied,  // "unknown": nothing was applied
  lost_applied,    // "unknown": all of it was applied
  crash_before,
  crash_after,
};

struct StoreFaults {
  CommitFault commit = CommitFault::none;
  std::optional<int> failing_read = std::nullopt;  // counted from 0 within the step
  bool down = false;                               // nothing works
  bool sweep_fails = false;
  Ticks stall{0};  // a commit takes so long
};

class FaultyStore final : public Store {
 public:
  explicit FaultyStore(SimulatedTime& time) : time_(time) {}

  // Called with each batch that was applied, before anything else can happen.
  using OnApplied = std::function<void(const std::vector<Write>&)>;
  void on_applied(OnApplied on_applied) { on_applied_ = std::move(on_applied); }

  // What is to go wrong in the next step.
  void begin_step(const StoreFaults& faults);
  bool applied() const { return applied_; }  // a batch in this step
  const std::optional<SweepLimits>& swept() const { return swept_; }

  // What is really stored, without faults.
  MemoryStore& truth() { return memory_; }

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

 private:
  bool read_fails();

  SimulatedTime& time_;
  MemoryStore memory_;
  StoreFaults faults_;
  int reads_ = 0;
  bool applied_ = false;
  std::optional<SweepLimits> swept_;
  OnApplied on_applied_;
};

}  // namespace belfry
