// SPDX-License-Identifier: MIT

#include "engine/agenda.h"

#include <algorithm>

#include "base/assert.h"

namespace belfry {
namespace {

// The store is asked before anything it may answer with is due.
constexpr Ticks kLoadedAhead = std::chrono::seconds{1};

}  // namespace

void Agenda::load(std::vector<Job> jobs, Instant before) {
  // Fewer than asked for: there are no others. Else others may be due with the last one.
  horizon_ = jobs.size() < size_max_ ? before : jobs.back().next->due;
  for (Job& job : jobs) insert(std::move(job));
}

Instant Agenda::loads_at() const {
  if (!due_.empty() || horizon_ == kNever) return kNever;
  return std::max(horizon_, kFirstInstant + kLoadedAhead) - kLoadedAhead;
}

void Agenda::insert(Job job) {
  ASSERT(job.next && !job.next->started);
  forget(job.id);
  const JobId id = job.id;
  due_.emplace(job.next->due, id);
  jobs_.emplace(id, std::move(job));
}

void Agenda::update(Job job) {
  const bool waits = job.next && !job.next->started;
  if (!waits || job.next->due >= horizon_) {
    forget(job.id);
    return;
  }
  insert(std::move(job));
  if (due_.size() > 2 * size_max_) shorten();
}

// Lets go of the later half: the store still has it.
void Agenda::shorten() {
  while (due_.size() > size_max_) {
    const auto last = std::prev(due_.end());
    horizon_ = last->first;
    jobs_.erase(last->second);
    due_.erase(last);
  }
}

void Agenda::forget(JobId id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  due_.erase({it->second.next->due, id});
  jobs_.erase(it);
}

void Agenda::clear() {
  due_.clear();
  jobs_.clear();
  horizon_ = kFirstInstant;
}

std::vector<JobId> Agenda::jobs_of(const CollectionKey& key) const {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) {
    if (same(job.key->collection, key)) ids.push_back(id);
  }
  return ids;
}

std::optional<Instant> Agenda::earliest() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

Job Agenda::take_first() {
  ASSERT(!due_.empty());
  const auto it = jobs_.find(due_.begin()->second);
  Job job = std::move(it->second);
  jobs_.erase(it);
  due_.erase(due_.begin());
  return job;
}

}  // namespace belfry
