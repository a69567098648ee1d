// SPDX-License-Identifier: MIT

#include "engine/agenda.h"

#include "base/assert.h"

namespace belfry {

void Agenda::load(std::vector<Job> jobs) {
  // Fewer than asked for: there are no others. Else others may be due with the last one.
  horizon_ = jobs.size() < size_max_ ? kNever : jobs.back().next->due;
  for (Job& job : jobs) insert(job);
}

void Agenda::insert(const Job& job) {
  ASSERT(job.next && !job.next->started);
  forget(job.id);
  due_.emplace(job.next->due, job.id);
  jobs_.emplace(job.id, job);
}

void Agenda::update(const Job& job) {
  const bool waits = job.next && !job.next->started;
  if (!waits || job.next->due >= horizon_) {
    forget(job.id);
    return;
  }
  insert(job);
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
    if (same(job.key.collection, key)) ids.push_back(id);
  }
  return ids;
}

std::optional<Instant> Agenda::earliest() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

const Job& Agenda::first() const {
  ASSERT(!due_.empty());
  return jobs_.at(due_.begin()->second);
}

}  // namespace belfry
