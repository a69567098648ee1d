// SPDX-License-Identifier: MIT

#include "engine/draft.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace belfry {
namespace {

constexpr std::size_t kJobsPerRead = 1000;

bool is_below(const std::string& folded_job, const std::string& folded_collection) {
  return folded_job.size() > folded_collection.size() &&
         folded_job.starts_with(folded_collection) && folded_job[folded_collection.size()] == '/';
}

void append(std::vector<HistoryEntry>& to, std::vector<HistoryEntry> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<std::optional<JobCollection>> Draft::collection(const CollectionKey& key) {
  const std::string name = folded(key);
  if (const auto it = collections_.find(name); it != collections_.end()) {
    return it->second.collection;
  }
  const auto read = stored_collections_.find(name);
  if (read != stored_collections_.end()) return std::optional(read->second);
  TRY_ASSIGN(auto stored, store_.collection(key));
  if (stored) stored_collections_.emplace(name, *stored);
  return stored;
}

bool Draft::stored_jobs_are_gone(const std::string& folded_collection) const {
  const auto it = collections_.find(folded_collection);
  return it != collections_.end() && it->second.removed_stored;
}

bool Draft::touched(const Job& job) const {
  if (!commanded_) return false;
  if (jobs_.contains(folded(job.key))) return true;
  return !collections_.empty() && stored_jobs_are_gone(folded(job.key->collection));
}

Result<std::optional<Job>> Draft::job(const JobKey& key) {
  name_advanced();
  const std::string name = folded(key);
  if (const auto it = jobs_.find(name); it != jobs_.end()) return it->second.job;
  if (stored_jobs_are_gone(folded(key.collection))) return std::optional<Job>();
  TRY_ASSIGN(auto stored, store_.job(key));
  if (stored) stored_gens_[name] = stored->gen;
  return stored;
}

Result<std::vector<Job>> Draft::jobs_of(const CollectionKey& key) {
  name_advanced();
  const std::string name = folded(key);
  std::vector<Job> jobs;
  JobQuery query;
  query.collection = key;
  query.limit = kJobsPerRead;
  while (!stored_jobs_are_gone(name)) {
    TRY_ASSIGN(auto page, store_.jobs(query));
    for (Job& job : page) {
      const std::string job_name = folded(job.key);
      if (!jobs_.contains(job_name)) {
        stored_gens_[job_name] = job.gen;
        jobs.push_back(job);
      }
    }
    if (page.size() < kJobsPerRead) break;
    query.after = folded(page.back().key->name);
  }
  for (const auto& [job_name, draft] : jobs_) {
    if (draft.job && is_below(job_name, name)) jobs.push_back(*draft.job);
  }
  return jobs;
}

Result<std::int64_t> Draft::count_jobs(const CollectionKey& key) {
  const std::string name = folded(key);
  std::int64_t count = 0;
  if (!stored_jobs_are_gone(name)) {
    TRY_ASSIGN(count, stored_count(name, key));
  }
  const auto more = more_jobs_.find(name);
  return more == more_jobs_.end() ? count : count + more->second;
}

void Draft::count(JobDraft& draft, const CollectionKey& key) {
  const int more = (draft.job ? 1 : 0) - (draft.stored_gen != kGenAbsent ? 1 : 0);
  if (more == draft.counted) return;
  more_jobs_[folded(key)] += more - std::exchange(draft.counted, more);
}

Result<std::int64_t> Draft::stored_count(const std::string& name, const CollectionKey& key) {
  const auto known = stored_counts_.find(name);
  if (known != stored_counts_.end()) return known->second;
  TRY_ASSIGN(const std::int64_t count, store_.count_jobs(key));
  stored_counts_.emplace(name, count);
  return count;
}

Result<SkuCounts> Draft::count_collections(const std::string& subscription, Sku sku) {
  TRY_ASSIGN(SkuCounts counts, store_.count_collections(subscription, sku));
  const auto count = [&](const std::optional<JobCollection>& collection, std::int64_t by) {
    if (!collection || folded(collection->key.subscription) != folded(subscription)) return;
    counts.all += by;
    if (collection->sku == sku) counts.of_sku += by;
  };
  for (const auto& [name, draft] : collections_) {
    count(draft.stored, -1);
    count(draft.collection, 1);
  }
  return counts;
}

void Draft::put(const JobCollection& collection) {
  commanded_ = true;
  const std::string name = folded(collection.key);
  auto [it, added] = collections_.try_emplace(name);
  if (added) {
    const auto read = stored_collections_.find(name);
    if (read != stored_collections_.end()) it->second.stored = read->second;
  }
  it->second.collection = collection;
}

void Draft::remove(const JobCollection& collection) {
  name_advanced();
  const std::string name = folded(collection.key);
  put(collection);
  CollectionDraft& draft = collections_[name];
  draft.collection.reset();
  draft.removed_stored = draft.removed_stored || draft.stored;
  const auto below = [&name](const auto& entry) { return is_below(entry.first, name); };
  std::erase_if(jobs_, below);
  std::erase_if(stored_gens_, below);
  more_jobs_.erase(name);
  removed_collections_.push_back(collection.key);
}

Draft::JobDraft& Draft::draft_of(const Job& job) {
  name_advanced();
  commanded_ = true;
  const std::string name = folded(job.key);
  auto [it, added] = jobs_.try_emplace(name);
  if (added) {
    const auto read = stored_gens_.find(name);
    if (read != stored_gens_.end()) it->second.stored_gen = read->second;
    if (it->second.stored_gen != kGenAbsent) it->second.stored_id = job.id;
  }
  return it->second;
}

void Draft::put(Job job, std::vector<HistoryEntry> rows) {
  JobDraft& draft = draft_of(job);
  draft.whole = true;
  append(draft.rows, std::move(rows));
  draft.job = std::move(job);
  count(draft, draft.job->key->collection);
}

void Draft::advance(Job job, std::vector<HistoryEntry> rows, Advance what) {
  advanced_.push_back({std::move(job), std::move(rows), what});
}

void Draft::name_advanced() {
  for (AdvanceJob& advance : std::exchange(advanced_, {})) {
    auto [it, added] = jobs_.try_emplace(folded(advance.job.key));
    JobDraft& draft = it->second;
    // Held jobs are not read again: what the engine has of them is what is stored.
    if (added) {
      draft.stored_id = advance.job.id;
      draft.stored_gen = advance.job.gen;
    }
    draft.what = added ? advance.what : Advance::any;
    append(draft.rows, std::move(advance.rows));
    draft.job = std::move(advance.job);
  }
}

void Draft::remove(const Job& job) {
  JobDraft& draft = draft_of(job);
  draft.job.reset();
  draft.rows.clear();
  draft.whole = false;
  count(draft, job.key->collection);
  removed_jobs_.push_back(job.id);
}

void Draft::add_rows(std::vector<HistoryEntry> rows) {
  append(extra_rows_, std::move(rows));
}

void Draft::add_audit(std::string key, AuditEntry entry) {
  audit_.emplace_back(std::move(key), std::move(entry));
}

bool Draft::empty() const {
  return advanced_.empty() && jobs_.empty() && collections_.empty() && extra_rows_.empty() &&
         audit_.empty();
}

Draft::Keyed Draft::take_writes() {
  if (!jobs_.empty()) name_advanced();
  Keyed out;
  const std::size_t about = collections_.size() + jobs_.size() + advanced_.size() + 1;
  out.writes.reserve(about);
  out.keys.reserve(about);
  const auto write = [&out](auto one, std::string_view key) {
    out.writes.emplace_back(std::move(one));
    out.keys.push_back(key);
  };
  for (const auto& [name, draft] : collections_) {
    if (!draft.removed_stored) continue;
    const auto gone = std::find_if(
        removed_collections_.begin(), removed_collections_.end(),
        [&, &folded_name = name](const CollectionKey& key) { return folded(key) == folded_name; });
    ASSERT(gone != removed_collections_.end());
    write(DeleteCollection{*gone, draft.stored->gen}, name);
  }
  for (const auto& [name, draft] : collections_) {
    if (!draft.collection) continue;
    const bool replaces = draft.stored && !draft.removed_stored;
    write(PutCollection{*draft.collection, replaces ? draft.stored->gen : kGenAbsent}, name);
  }
  for (auto& [name, draft] : jobs_) {
    const bool stored = draft.stored_gen != kGenAbsent;
    const bool other = draft.job && stored && draft.job->id != draft.stored_id;
    if (stored && (!draft.job || other)) write(DeleteJob{draft.stored_id, draft.stored_gen}, name);
    if (!draft.job) continue;
    if (draft.whole) {
      const std::int64_t expected_gen = other ? kGenAbsent : draft.stored_gen;
      write(PutJob{std::move(*draft.job), expected_gen, std::move(draft.rows)}, name);
    } else {
      write(AdvanceJob{std::move(*draft.job), std::move(draft.rows), draft.what}, name);
    }
  }
  for (AdvanceJob& advance : advanced_) write(std::move(advance), "");
  if (!extra_rows_.empty()) write(AddHistory{std::move(extra_rows_)}, "");
  if (!audit_.empty()) take_audit(out);
  return out;
}

// Each stands or falls with the last write to what it tells of.
void Draft::take_audit(Keyed& writes) {
  std::unordered_map<std::string_view, std::size_t> last_write;
  for (std::size_t i = 0; i < writes.keys.size(); ++i) last_write[writes.keys[i]] = i;
  for (auto& [key, entry] : audit_) {
    AppendAudit audit{std::move(entry), std::nullopt};
    if (const auto it = last_write.find(key); it != last_write.end()) audit.tells_of = it->second;
    writes.writes.emplace_back(std::move(audit));
    writes.keys.push_back(key);
  }
}

}  // namespace belfry
