// SPDX-License-Identifier: MIT

#include "engine/agenda.h"

#include <algorithm>

#include "base/assert.h"

namespace belfry {
namespace {

// The store is asked before anything it may answer with is due.
constexpr Ticks kLoadedAhead = std::chrono::seconds{1};

DuePlace place_of(const Job& job) {
  return {job.next->due, job.id};
}

DuePlace behind(const DuePlace& place) {
  return {place.due, JobId{static_cast<std::int64_t>(place.job) + 1}};
}

}  // namespace

void Agenda::load(std::vector<Job> jobs, Instant before) {
  // Fewer than asked for: there are no others. Else others may be due with the last one.
  horizon_ = jobs.size() < size_max_ ? DuePlace{before} : behind(place_of(jobs.back()));
  for (Job& job : jobs) insert(std::move(job));
}

Instant Agenda::loads_at() const {
  if (!due_.empty() || horizon_.due == kNever) return kNever;
  return std::max(horizon_.due, kFirstInstant + kLoadedAhead) - kLoadedAhead;
}

void Agenda::insert(Job job) {
  ASSERT(job.next && job.next->waits());
  forget(job.id);
  due_.insert(place_of(job));
  jobs_.emplace(job.id, std::move(job));
}

void Agenda::update(Job job) {
  const bool waits = job.next && job.next->waits();
  if (!waits || place_of(job) >= horizon_) {
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
    horizon_ = *last;
    jobs_.erase(last->job);
    due_.erase(last);
  }
}

void Agenda::forget(JobId id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  due_.erase(place_of(it->second));
  jobs_.erase(it);
}

void Agenda::clear() {
  due_.clear();
  jobs_.clear();
  horizon_ = {kFirstInstant};
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
  return due_.begin()->due;
}

Job Agenda::take_first() {
  ASSERT(!due_.empty());
  const auto it = jobs_.find(due_.begin()->job);
  Job job = std::move(it->second);
  jobs_.erase(it);
  due_.erase(due_.begin());
  return job;
}

}  // namespace belfry
