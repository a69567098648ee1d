// SPDX-License-Identifier: MIT
//
// Agenda holds the jobs that are due soonest, in memory, and knows how far it reaches: every
// stored job that waits at a place before `horizon()` is on it. From the horizon on the store's
// index knows, so that memory does not grow with the number of jobs, and a start with ten million
// of them is as quick as with ten.

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/instant.h"
#include "model/job.h"

namespace belfry {

class Agenda {
 public:
  // At most `size_max` jobs are loaded at a time, and never more than twice as many kept.
  explicit Agenda(std::size_t size_max) : size_max_(size_max) {}

  // What the store answered when asked for its `size_max` earliest jobs from the horizon on that
  // are due before then.
  void load(std::vector<Job> jobs, Instant before = kNever);
  // When it is to be loaded, so early that nothing is late for it: kNever as long as it has jobs.
  Instant loads_at() const;
  std::size_t size_max() const { return size_max_; }

  // The job as it is now stored: put where it belongs, or forgotten when it waits for nothing
  // or for something from the horizon on.
  void update(Job job);
  void forget(JobId id);
  void clear();
  std::vector<JobId> jobs_of(const CollectionKey& key) const;

  std::optional<Instant> earliest() const;
  Job take_first();  // the job of earliest(); there must be one
  std::size_t size() const { return due_.size(); }
  const DuePlace& horizon() const { return horizon_; }

  static constexpr Instant kNever = kLastInstant;

 private:
  void insert(Job job);
  void shorten();

  std::size_t size_max_;
  DuePlace horizon_{kFirstInstant};
  std::set<DuePlace> due_;
  std::unordered_map<JobId, Job> jobs_;
};

}  // namespace belfry
