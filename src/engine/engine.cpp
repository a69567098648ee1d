// SPDX-License-Identifier: MIT

#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/assert.h"
#include "base/failpoint.h"
#include "engine/apply_command.h"

namespace belfry {
namespace {

std::tuple<JobId, std::int64_t, ActionRole, int> key_of(const Attempt& attempt) {
  return {attempt.job, attempt.occurrence.seq, attempt.role, attempt.retry};
}

}  // namespace

Engine::Engine(Store& store, Dispatcher& dispatcher, Random random, EngineOptions options)
    : store_(store),
      dispatcher_(dispatcher),
      random_(random),
      options_(std::move(options)),
      agenda_(options_.agenda_max) {}

Instant Engine::step(Instant now) {
  Inbox::Letters letters = inbox_.take();
  Reports reports = std::exchange(unsettled_, {});
  std::move(letters.reports.begin(), letters.reports.end(), std::back_inserter(reports));
  for (const auto& [attempt, outcome] : reports) in_flight_.erase(key_of(attempt));

  Draft draft(store_);
  std::vector<Answer> answers;
  if (recover()) {
    unstart_refused(draft, now);
    settle_all(reports, draft, now);
    answers = apply_all(letters, draft, now);
    if (refill()) begin_due(draft, now);
  } else {
    answers = apply_all(letters, draft, now);
  }
  if (commit(draft, answers)) {
    take_over(draft);
    send_unsent();
    sweep(now);
  } else {
    unsettled_ = std::move(reports);
  }
  FAILPOINT("before-answer");
  for (Answer& answer : answers) answer.reply_to(std::move(answer.reply));
  return next_step(now);
}

// Reads what is open and due, after a start and after the store failed. What is on the wire
// stays there; what was started and never sent is sent by this step's send_unsent().
bool Engine::recover() {
  if (recovered_) return true;
  auto started = store_.started(2 * options_.in_flight_max);
  if (!started) {
    lose_store(started.error());
    return false;
  }
  agenda_.clear();
  refused_.clear();
  started_.clear();
  unsent_.clear();
  for (Job& job : *started) {
    unsent_.push_back(job.id);
    started_.emplace(job.id, std::move(job));
  }
  recovered_ = true;
  return true;
}

void Engine::unstart_refused(Draft& draft, Instant now) {
  for (const JobId id : std::exchange(refused_, {})) {
    const auto it = started_.find(id);
    if (it != started_.end()) {
      draft.advance(unstarted(it->second, now + options_.refused_backoff), {});
    }
  }
}

void Engine::settle_all(const Reports& reports, Draft& draft, Instant now) {
  for (const auto& [attempt, outcome] : reports) settle_one(attempt, outcome, draft, now);
}

void Engine::settle_one(const Attempt& attempt, const Outcome& outcome, Draft& draft, Instant now) {
  const auto it = started_.find(attempt.job);
  if (it != started_.end() && awaits(it->second, attempt)) {
    Settlement settlement = settle(it->second, attempt, outcome, now);
    draft.advance(std::move(settlement.job), std::move(settlement.rows));
    return;
  }
  // Its chain was ended while it was on the wire; or else a step that settled it lost the
  // store's answer, and the row is there.
  if (superseded_.erase(key_of(attempt)) == 0) return;
  Job stranger;
  stranger.id = attempt.job;
  draft.add_rows({superseded_row(stranger, attempt, outcome)});
}

std::vector<Engine::Answer> Engine::apply_all(Inbox::Letters& letters, Draft& draft, Instant now) {
  const Applying with{draft, options_.plans, now, [this, now] { return mint_id(now); }};
  std::vector<Answer> answers;
  answers.reserve(letters.commands.size());
  for (auto& [command, reply_to] : letters.commands) {
    answers.push_back({belfry::key_of(command), std::move(reply_to), apply_command(command, with)});
  }
  return answers;
}

bool Engine::refill() {
  if (!agenda_.wants_load()) return true;
  auto jobs = store_.due(agenda_.size_max());
  if (!jobs) {
    lose_store(jobs.error());
    return false;
  }
  agenda_.load(std::move(*jobs));
  return true;
}

void Engine::begin_due(Draft& draft, Instant now) {
  if (!starting_) return;
  std::vector<JobId> begun;
  while (begun.size() < options_.starts_per_step_max &&
         started_.size() + begun.size() < options_.in_flight_max) {
    const auto due = agenda_.earliest();
    if (!due || *due > now) break;
    const Job job = agenda_.first();
    agenda_.forget(job.id);
    // A command of this very step changed it: it comes back to the agenda as it now is.
    if (draft.touched(job.id)) continue;
    Settlement settlement = begin(job, now, options_.catch_up);
    draft.advance(std::move(settlement.job), std::move(settlement.rows));
    begun.push_back(job.id);
  }
}

// False when the store failed: nothing of this step stands, and every answer says so.
bool Engine::commit(const Draft& draft, std::vector<Answer>& answers) {
  if (draft.empty()) return recovered_;
  const Draft::Keyed writes = draft.writes();
  FAILPOINT("before-commit");
  const auto results = store_.commit(writes.writes);
  FAILPOINT("after-commit");
  if (!results) {
    lose_store(results.error());
    for (Answer& answer : answers) {
      if (answer.reply) answer.reply = results.error();
    }
    return false;
  }
  std::unordered_set<std::string> refused;
  for (std::size_t i = 0; i < results->size(); ++i) {
    if ((*results)[i] == WriteResult::refused) refused.insert(writes.keys[i]);
  }
  if (refused.empty()) return recovered_;
  // Somebody else wrote to this store. What was refused is told so; the rest stands.
  recovered_ = false;
  for (Answer& answer : answers) {
    if (answer.reply && refused.contains(answer.key)) {
      answer.reply =
          Error{ErrorCode::changed, "It was changed by another request meanwhile. Try again.", {}};
    }
  }
  return false;
}

// The draft is stored: memory follows.
void Engine::take_over(const Draft& draft) {
  draft.for_each_job([this](const Job& job) {
    supersede_unless_awaited(job.id, &job);
    agenda_.update(job);
    if (!job.next || !job.next->started) {
      started_.erase(job.id);
    } else if (started_.insert_or_assign(job.id, job).second) {
      unsent_.push_back(job.id);
    }
  });
  for (const JobId id : draft.removed_jobs()) forget(id);
  for (const CollectionKey& key : draft.removed_collections()) forget_jobs_of(key);
}

// The job's chain may have been ended with an attempt on the wire.
void Engine::supersede_unless_awaited(JobId id, const Job* after) {
  const auto it = started_.find(id);
  if (it == started_.end()) return;
  const Attempt attempt = attempt_of(it->second);
  const bool awaited = after != nullptr && awaits(*after, attempt);
  if (!awaited && in_flight_.contains(key_of(attempt))) superseded_.insert(key_of(attempt));
}

void Engine::forget(JobId id) {
  supersede_unless_awaited(id, nullptr);
  agenda_.forget(id);
  started_.erase(id);
}

void Engine::forget_jobs_of(const CollectionKey& key) {
  std::vector<JobId> gone = agenda_.jobs_of(key);
  for (const auto& [id, job] : started_) {
    if (same(job.key.collection, key)) gone.push_back(id);
  }
  for (const JobId id : gone) forget(id);
}

void Engine::send_unsent() {
  if (!starting_) return;
  for (const JobId id : std::exchange(unsent_, {})) {
    const auto it = started_.find(id);
    const bool waits = it != started_.end() && !in_flight_.contains(key_of(attempt_of(it->second)));
    if (waits) send(it->second);
  }
}

void Engine::send(const Job& job) {
  const Attempt attempt = attempt_of(job);
  FAILPOINT("before-send");
  if (dispatcher_.send(attempt, job)) {
    FAILPOINT("after-send");
    in_flight_.insert(key_of(attempt));
  } else {
    refused_.push_back(job.id);
  }
}

// A slice a second, so small that nobody notices; at once again while there is more.
void Engine::sweep(Instant now) {
  // The clock may have been put back.
  if (now < next_sweep_ && next_sweep_ - now <= options_.sweep_every) return;
  const auto swept = store_.sweep({.history_before = now - options_.history_kept,
                                   .ended_before = now - options_.ended_jobs_kept,
                                   .limit = options_.sweep_rows_max});
  if (!swept) {
    lose_store(swept.error());
    return;
  }
  const bool more = *swept >= options_.sweep_rows_max;
  next_sweep_ = now + (more ? options_.sweep_every / 20 : options_.sweep_every);
}

Instant Engine::next_step(Instant now) const {
  if (!recovered_) return now + options_.store_backoff;
  if (!refused_.empty()) return now;
  Instant next = next_sweep_;
  if (starting_ && started_.size() < options_.in_flight_max) {
    if (const auto due = agenda_.earliest()) next = std::min(next, *due);
    if (agenda_.wants_load()) next = std::min(next, now);
  }
  return std::max(next, now);
}

void Engine::lose_store(const Error& error) {
  if (recovered_ && log_) log_(fmt::format("the store failed: {}", error.message));
  recovered_ = false;
}

JobId Engine::mint_id(Instant now) {
  // Milliseconds and 22 bits of chance: in order of creation, and never the same twice.
  constexpr int kChanceBits = 22;
  const auto millis = std::chrono::floor<Millis>(now.time_since_epoch()).count();
  const auto chance = static_cast<std::int64_t>(random_.below(1 << kChanceBits));
  const std::int64_t wanted = (std::max<std::int64_t>(millis, 1) << kChanceBits) | chance;
  last_id_ = std::max(wanted, last_id_ + 1);
  return JobId{last_id_};
}

}  // namespace belfry
