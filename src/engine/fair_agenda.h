// SPDX-License-Identifier: MIT
//
// FairAgenda keeps the crowd of one subscription from standing before everybody else's jobs. As
// long as what is due can be begun it is one Agenda, in order of due time. When everything that was
// loaded is due already, there is more of it, and most is one subscription's, then the jobs of that
// subscription move to an agenda of their own: the crowd. Of the others all are seen again, whose
// jobs would have come after it, and are begun first; the crowd has a part of each step
// (docs/decisions/019-crowds.md). When the crowd has nothing due soon, it is one agenda again.
//
// Holds: every stored job that is due before the horizon of its agenda is on it.

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "engine/agenda.h"
#include "model/job.h"
#include "store/store.h"

namespace belfry {

class FairAgenda {
 public:
  // Beyond so many crowds, one more stays among the others.
  static constexpr std::size_t kCrowdsMax = 16;

  explicit FairAgenda(std::size_t size_max);

  // What the store is to be asked for, if anything; load() is given its answer. What is due at
  // `until` is to be begun now.
  std::optional<DueQuery> wants_load(Instant until) const;
  void load(const DueQuery& asked, std::vector<Job> jobs, Instant until);
  Instant loads_at() const;

  // As Agenda has it.
  void update(Job job);
  void forget(JobId id);
  void clear();
  std::vector<JobId> jobs_of(const CollectionKey& key) const;

  Agenda& others() { return others_; }
  Agenda& crowd() { return crowd_; }
  const Agenda& others() const { return others_; }
  const Agenda& crowd() const { return crowd_; }
  bool crowded() const { return !crowded_.empty(); }
  bool in_crowd(const Job& job) const;

 private:
  void load_others(const DueQuery& asked, std::vector<Job> jobs, Instant until);
  void part(std::vector<Job> jobs, const std::string& subscription);

  Agenda others_;
  Agenda crowd_;
  std::set<std::string> crowded_;  // folded subscriptions
};

}  // namespace belfry
