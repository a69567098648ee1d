// SPDX-License-Identifier: MIT
//
// What the engine has in memory of what is stored: read when it does not know, followed when it
// wrote.

#include <algorithm>
#include <unordered_set>

#include "engine/engine.h"

namespace belfry {

// Reads what is open and due, after a start and after the store failed. What is on the wire
// stays there; what was started and is not is sent by this step's send_unsent().
Status Engine::recover() {
  if (recovered_) return Done{};
  auto started = store_.started(2 * options_.in_flight_max);
  if (started) started = with_suspended(*std::move(started));
  if (!started) {
    lose_store(started.error());
    return started.error();
  }
  agenda_.clear();
  unsent_.clear();
  const auto before = std::exchange(started_, {});
  // What waits for room was not sent, and may still be taken back.
  std::unordered_set<JobId> awaiting_room;
  for (const AwaitingRoom& one : awaiting_room_) awaiting_room.insert(one.job);
  for (Job& job : *started) {
    if (!awaiting_room.contains(job.id)) unsent_.push_back({job.id, /*perhaps_sent=*/true});
    started_.emplace(job.id, std::move(job));
  }
  // A write whose answer was lost may have ended their chains.
  for (const auto& [id, job] : before) {
    const auto now_stored = started_.find(id);
    supersede_unless_awaited(job, now_stored == started_.end() ? nullptr : &now_stored->second);
  }
  recovered_ = true;
  return Done{};
}

// And those that were suspended with an attempt on the wire: its outcome is still awaited.
Result<std::vector<Job>> Engine::with_suspended(std::vector<Job> started) {
  std::unordered_set<JobId> found;
  for (const Job& job : started) found.insert(job.id);
  for (const auto& [id, before] : started_) {
    const Attempt attempt = attempt_of(before);
    if (found.contains(id) || !is_on_its_way(attempt)) continue;
    TRY_ASSIGN(auto stored, store_.job(before.key));
    const bool same = stored && stored->id == id;
    if (same && awaits(*stored, attempt)) started.push_back(*std::move(stored));
  }
  return started;
}

// On the wire, or back from there and not settled yet.
bool Engine::is_on_its_way(const Attempt& attempt) const {
  return in_flight_.contains(key_of(attempt)) ||
         std::any_of(unsettled_.begin(), unsettled_.end(),
                     [&](const auto& report) { return report.first == attempt; });
}

// The draft is stored: memory follows. What was removed goes first, for its name may have been
// taken again in the same step.
void Engine::take_over(const Draft& draft, std::vector<Write> stored) {
  for (const JobId id : draft.removed_jobs()) forget(id);
  for (const CollectionKey& key : draft.removed_collections()) forget_jobs_of(key);
  for (Write& write : stored) {
    // What a command finds started, and the engine has not, may have been sent before a crash.
    if (auto* put = std::get_if<PutJob>(&write)) take_over(std::move(put->job), PerhapsSent::yes);
    if (auto* advance = std::get_if<AdvanceJob>(&write)) {
      take_over(std::move(advance->job), PerhapsSent::no);
    }
  }
}

void Engine::take_over(Job job, PerhapsSent perhaps_sent) {
  const JobId id = job.id;
  const auto before = started_.find(id);
  if (before != started_.end()) supersede_unless_awaited(before->second, &job);
  if (!is_awaited(job)) {
    if (before != started_.end()) started_.erase(before);
    agenda_.update(std::move(job));
    return;
  }
  agenda_.forget(id);
  const bool was_suspended = before != started_.end() && before->second.next->suspended;
  const bool to_be_sent = before == started_.end() || was_suspended;
  if (to_be_sent) unsent_.push_back({id, perhaps_sent == PerhapsSent::yes});
  started_.insert_or_assign(id, std::move(job));
}

// Of one that is suspended, only what is on the wire: the rest is sent when it goes on.
bool Engine::is_awaited(const Job& job) const {
  if (!job.next || !job.next->started) return false;
  return !job.next->suspended || in_flight_.contains(key_of(attempt_of(job)));
}

// The job's chain may have been ended with an attempt on the wire.
void Engine::supersede_unless_awaited(const Job& before, const Job* after) {
  const Attempt attempt = attempt_of(before);
  const bool awaited = after != nullptr && awaits(*after, attempt);
  if (!awaited && in_flight_.contains(key_of(attempt))) {
    superseded_.insert_or_assign(key_of(attempt), before);
  }
}

void Engine::forget(JobId id) {
  agenda_.forget(id);
  const auto it = started_.find(id);
  if (it == started_.end()) return;
  supersede_unless_awaited(it->second, nullptr);
  started_.erase(it);
}

void Engine::forget_jobs_of(const CollectionKey& key) {
  std::vector<JobId> gone = agenda_.jobs_of(key);
  for (const auto& [id, job] : started_) {
    if (same(job.key->collection, key)) gone.push_back(id);
  }
  for (const JobId id : gone) forget(id);
}

void Engine::lose_store(const Error& error) {
  recovered_ = false;
  store_health_.failed(error);
}

}  // namespace belfry
