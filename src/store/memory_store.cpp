// SPDX-License-Identifier: MIT

#include "store/memory_store.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace belfry {

namespace {

WriteResult applied_if(bool condition) {
  return condition ? WriteResult::applied : WriteResult::refused;
}

HistoryPlace place_of(const HistoryEntry& row) {
  return {.seq = row.occurrence.seq, .role = row.role, .retry = row.retry};
}

// Passes over `skip` of what is offered, then takes up to `limit`.
template <typename T>
struct Page {
  std::size_t skip = 0;
  std::size_t limit = 0;
  std::vector<T> taken = {};

  bool full() const { return taken.size() >= limit; }
  void offer(const T& value) {
    if (skip > 0) {
      --skip;
    } else {
      taken.push_back(value);
    }
  }
};

}  // namespace

Result<std::vector<WriteResult>> MemoryStore::commit(const std::vector<Write>& batch) {
  const std::lock_guard lock(mutex_);
  std::vector<WriteResult> results;
  for (const Write& write : batch) {
    const auto* audit = std::get_if<AppendAudit>(&write);
    if (audit != nullptr && is_moot(*audit, results)) {
      results.push_back(WriteResult::refused);
      continue;
    }
    results.push_back(std::visit([this](const auto& one) { return apply(one); }, write));
  }
  return results;
}

MemoryStore::StoredCollection* MemoryStore::find(const CollectionKey& key) {
  const auto found = collections_.find(folded(key));
  return found == collections_.end() ? nullptr : &found->second;
}

Job* MemoryStore::find(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

WriteResult MemoryStore::apply(const PutCollection& write) {
  ASSERT(write.collection.gen != kGenAbsent);
  StoredCollection* const stored = find(write.collection.key);
  if (write.expected_gen == kGenAbsent) {
    if (stored != nullptr) return WriteResult::refused;
    collections_[folded(write.collection.key)].collection = write.collection;
    return WriteResult::applied;
  }
  if (stored == nullptr || stored->collection.gen != write.expected_gen) {
    return WriteResult::refused;
  }
  CollectionKey spelling = std::move(stored->collection.key);
  stored->collection = write.collection;
  stored->collection.key = std::move(spelling);
  return WriteResult::applied;
}

WriteResult MemoryStore::apply(const DeleteCollection& write) {
  StoredCollection* const stored = find(write.key);
  if (stored == nullptr || stored->collection.gen != write.expected_gen) {
    return WriteResult::refused;
  }
  const auto jobs = std::move(stored->jobs);
  for (const auto& [name, id] : jobs) remove_row(jobs_.at(id));
  collections_.erase(folded(write.key));
  return WriteResult::applied;
}

WriteResult MemoryStore::apply(const PutJob& write) {
  ASSERT(write.job.gen != kGenAbsent);
  const bool put =
      write.expected_gen == kGenAbsent ? insert(write.job) : replace(write.job, write.expected_gen);
  if (put) add_history(write.rows);
  return applied_if(put);
}

bool MemoryStore::insert(const Job& job) {
  StoredCollection* const collection = find(job.key->collection);
  if (collection == nullptr || find(job.id) != nullptr || removed_.contains(job.id)) return false;
  if (!collection->jobs.emplace(folded(job.key->name), job.id).second) return false;
  Job& stored = jobs_[job.id];
  stored.id = job.id;
  stored.key = JobKey{.collection = collection->collection.key, .name = job.key->name};
  stored.definition = job.definition;
  set_progress(stored, job);
  return true;
}

bool MemoryStore::replace(const Job& job, std::int64_t expected_gen) {
  Job* const stored = find(job.id);
  if (stored == nullptr || stored->gen != expected_gen || !same(stored->key, job.key)) return false;
  stored->definition = job.definition;
  set_progress(*stored, job);
  return true;
}

void MemoryStore::enlist(const Job& job) {
  if (!job.next || job.next->suspended) return;
  if (job.next->started) {
    started_.insert(job.id);
  } else {
    waiting_.emplace(job.next->due, job.id);
  }
}

void MemoryStore::unlist(const Job& job) {
  started_.erase(job.id);
  if (job.next) waiting_.erase({job.next->due, job.id});
}

void MemoryStore::set_progress(Job& stored, const Job& progress) {
  unlist(stored);
  stored.gen = progress.gen;
  stored.state = progress.state;
  stored.status = progress.status;
  stored.retry_interval_default = progress.retry_interval_default;
  stored.defined_at = progress.defined_at;
  stored.last_seq = progress.last_seq;
  stored.ran = progress.ran;
  stored.covered_until = progress.covered_until;
  stored.owed_until = progress.owed_until;
  stored.ended = progress.ended;
  stored.next = progress.next;
  enlist(stored);
}

WriteResult MemoryStore::apply(const DeleteJob& write) {
  const Job* const stored = find(write.id);
  if (stored == nullptr || stored->gen != write.expected_gen) return WriteResult::refused;
  remove_row(*stored);
  return WriteResult::applied;
}

void MemoryStore::remove_row(const Job& job) {
  const JobId id = job.id;
  if (StoredCollection* const collection = find(job.key->collection)) {
    collection->jobs.erase(folded(job.key->name));
  }
  unlist(job);
  jobs_.erase(id);
  removed_.insert(id);
}

WriteResult MemoryStore::apply(const AdvanceJob& write) {
  Job* const stored = find(write.job.id);
  if (stored == nullptr || stored->gen != write.job.gen) return WriteResult::refused;
  set_progress(*stored, write.job);
  add_history(write.rows);
  return WriteResult::applied;
}

WriteResult MemoryStore::apply(const AddHistory& write) {
  for (const HistoryEntry& row : write.rows) {
    if (find(row.job) != nullptr) history_[row.job].insert_or_assign(place_of(row), row);
  }
  return WriteResult::applied;
}

void MemoryStore::add_history(const std::vector<HistoryEntry>& rows) {
  for (const HistoryEntry& row : rows) history_[row.job].emplace(place_of(row), row);
}

Result<std::size_t> MemoryStore::sweep(const SweepLimits& limits) {
  const std::lock_guard lock(mutex_);
  std::size_t left = limits.limit;
  left -= sweep_removed(left);
  left -= sweep_ended(limits.ended_before, left);
  left -= sweep_old(limits.history_before, left);
  return limits.limit - left;
}

std::size_t MemoryStore::sweep_removed(std::size_t limit) {
  std::size_t left = limit;
  while (left > 0 && !removed_.empty()) {
    const JobId job = *removed_.begin();
    History& rows = history_[job];
    for (; left > 0 && !rows.empty(); --left) rows.erase(rows.begin());
    if (left == 0) break;
    history_.erase(job);
    removed_.erase(job);
    --left;
  }
  return limit - left;
}

std::size_t MemoryStore::sweep_ended(Instant before, std::size_t limit) {
  std::vector<JobId> ended;
  for (const auto& [id, job] : jobs_) {
    const bool over = is_final(job.state) && job.ended && *job.ended < before;
    if (over && ended.size() < limit) ended.push_back(id);
  }
  for (const JobId id : ended) remove_row(jobs_.at(id));
  return ended.size();
}

std::size_t MemoryStore::sweep_old(Instant before, std::size_t limit) {
  std::size_t left = limit;
  for (auto& [job, rows] : history_) {
    for (auto row = rows.begin(); row != rows.end() && left > 0;) {
      const bool old = row->second.ended < before;
      row = old ? rows.erase(row) : std::next(row);
      if (old) --left;
    }
  }
  return limit - left;
}

Result<std::vector<Job>> MemoryStore::due(const DueQuery& query) {
  const std::lock_guard lock(mutex_);
  const std::set<std::string> named(query.subscriptions.begin(), query.subscriptions.end());
  std::vector<Job> out;
  for (auto at = waiting_.lower_bound({query.from.due, query.from.job});
       at != waiting_.end() && at->first < query.before && out.size() < query.limit; ++at) {
    const Job& job = jobs_.at(at->second);
    const bool theirs = named.contains(folded(job.key->collection.subscription));
    if (theirs == (query.of == DueOf::them)) out.push_back(job);
  }
  return out;
}

Result<std::vector<Job>> MemoryStore::started(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  for (auto at = started_.begin(); at != started_.end() && out.size() < limit; ++at) {
    out.push_back(jobs_.at(*at));
  }
  return out;
}

Result<std::optional<JobCollection>> MemoryStore::collection(const CollectionKey& key) {
  const std::lock_guard lock(mutex_);
  const StoredCollection* const stored = find(key);
  if (stored == nullptr) return std::optional<JobCollection>();
  return std::optional(stored->collection);
}

Result<std::vector<JobCollection>> MemoryStore::collections(const CollectionQuery& query) {
  const std::lock_guard lock(mutex_);
  std::string prefix = folded(query.subscription) + '/';
  if (query.resource_group) prefix += folded(*query.resource_group) + '/';
  std::vector<JobCollection> out;
  for (auto at = collections_.upper_bound(std::max(prefix, query.after));
       at != collections_.end() && at->first.starts_with(prefix) && out.size() < query.limit;
       ++at) {
    out.push_back(at->second.collection);
  }
  return out;
}

Result<SkuCounts> MemoryStore::count_collections(const std::string& subscription, Sku sku) {
  const std::lock_guard lock(mutex_);
  SkuCounts out;
  const std::string prefix = folded(subscription) + '/';
  for (const auto& [key, stored] : collections_) {
    if (!key.starts_with(prefix)) continue;
    ++out.all;
    if (stored.collection.sku == sku) ++out.of_sku;
  }
  return out;
}

Result<std::optional<Job>> MemoryStore::job(const JobKey& key) {
  const std::lock_guard lock(mutex_);
  const StoredCollection* const collection = find(key.collection);
  if (collection == nullptr) return std::optional<Job>();
  const auto found = collection->jobs.find(folded(key.name));
  if (found == collection->jobs.end()) return std::optional<Job>();
  return std::optional(jobs_.at(found->second));
}

Result<std::optional<JobName>> MemoryStore::job_name(const JobKey& key) {
  TRY_ASSIGN(const auto found, job(key));
  if (!found) return std::optional<JobName>();
  return std::optional(JobName{found->id, found->key});
}

Result<std::vector<Job>> MemoryStore::jobs(const JobQuery& query) {
  const std::lock_guard lock(mutex_);
  Page<Job> page{.skip = query.skip, .limit = query.limit};
  const StoredCollection* const collection = find(query.collection);
  if (collection == nullptr) return page.taken;
  for (auto at = collection->jobs.upper_bound(query.after);
       at != collection->jobs.end() && !page.full(); ++at) {
    const Job& job = jobs_.at(at->second);
    if (!query.state || job.state == *query.state) page.offer(job);
  }
  return page.taken;
}

Result<std::int64_t> MemoryStore::count_jobs(const CollectionKey& key) {
  const std::lock_guard lock(mutex_);
  const StoredCollection* const collection = find(key);
  return collection == nullptr ? 0 : static_cast<std::int64_t>(collection->jobs.size());
}

Result<std::vector<HistoryEntry>> MemoryStore::history(const HistoryQuery& query) {
  const std::lock_guard lock(mutex_);
  Page<HistoryEntry> page{.skip = query.skip, .limit = query.limit};
  const auto found = history_.find(query.job);
  if (found == history_.end()) return page.taken;
  const History& rows = found->second;
  auto at = query.before ? rows.lower_bound(*query.before) : rows.end();
  while (at != rows.begin() && !page.full()) {
    --at;
    if (!query.status || at->second.status == *query.status) page.offer(at->second);
  }
  return page.taken;
}

}  // namespace belfry
