// SPDX-License-Identifier: MIT

#include "engine/engine.h"

#include <algorithm>
#include <unordered_set>

#include "base/assert.h"
#include "base/failpoint.h"
#include "engine/apply_command.h"

namespace belfry {
namespace {

// So long after a crowd was refused it is only tried whether its targets have room again.
constexpr Ticks kCrowdTried = std::chrono::seconds{1};

// So often a step tries in vain whether there is room for what waits for it; and beside others, who
// want it to be short.
constexpr std::size_t kTriesInVainMax = 8;
constexpr std::size_t kTriesInVainBesideOthersMax = 2;
constexpr std::size_t kStartsShortOfRoom = 100;

// So many of those that may have been sent before are tried in vain in a step.
constexpr std::size_t kResendsInVainMax = 500;

std::size_t rows_in(const std::vector<Write>& writes) {
  std::size_t rows = 0;
  for (const Write& write : writes) {
    std::visit(
        [&rows](const auto& one) {
          if constexpr (requires { one.rows; }) rows += one.rows.size();
        },
        write);
  }
  return rows;
}

}  // namespace

Engine::Engine(Store& store, Dispatcher& dispatcher, Random random, EngineOptions options)
    : store_(store),
      dispatcher_(dispatcher),
      random_(random),
      options_(std::move(options)),
      agenda_(options_.agenda_max) {
  // Or what is refused would be begun again at once.
  ASSERT(options_.start_ahead < options_.refused_backoff);
}

Instant Engine::step(Instant now) {
  // Before reports are taken: it has to know what is still on the wire.
  const Status reachable = recover();
  Inbox::Letters letters = inbox_.take();
  Reports reports = std::exchange(unsettled_, {});
  std::move(letters.reports.begin(), letters.reports.end(), std::back_inserter(reports));
  for (const auto& [attempt, outcome] : reports) in_flight_.erase(key_of(attempt));

  Draft draft(store_);
  std::vector<Answer> answers;
  if (reachable) {
    take_back_refused(draft, now);
    settle_all(reports, draft, now);
    take_back_changed(letters, draft, now);
    answers = apply_all(letters, draft, now);
    if (refill(now)) begin_due(draft, now);
  } else {
    answers = turn_away(letters, reachable.error());
  }
  const bool writing = !draft.empty();
  Draft::Keyed writes = draft.take_writes();
  if (writing ? commit(writes, answers) : recovered_) {
    for (const auto& [attempt, outcome] : reports) superseded_.erase(key_of(attempt));
    rows_since_sweep_ += rows_in(writes.writes);
    take_over(draft, std::move(writes.writes));
    writing ? store_health_.written() : store_health_.read(now);
    send_unsent(now);
    sweep(now);
  } else {
    unsettled_ = std::move(reports);
  }
  FAILPOINT("before-answer");
  for (Answer& answer : answers) answer.reply_to(std::move(answer.reply));
  return next_step(now);
}

std::vector<Engine::Answer> Engine::turn_away(Inbox::Letters& letters, const Error& error) {
  std::vector<Answer> answers;
  answers.reserve(letters.commands.size());
  for (auto& letter : letters.commands) {
    answers.push_back({belfry::key_of(letter.command), std::move(letter.reply_to), error});
  }
  return answers;
}

void Engine::take_back(const Job& job, Draft& draft, Instant now) {
  const RefusalBackoff backoff{options_.refused_backoff, options_.refused_backoff_max};
  draft.advance(unstarted(job, due_after_refusal(job, now, backoff)), {});
}

// What has waited for room in vain. A long step makes others late, so not all at once.
void Engine::take_back_refused(Draft& draft, Instant now) {
  std::size_t left =
      others_soon(now) ? options_.crowd_starts_per_step_max : options_.starts_per_step_max;
  std::erase_if(awaiting_room_, [&](const AwaitingRoom& one) {
    // The clock may have been put back.
    if (left == 0 || (now < one.until && one.until - now <= options_.room_patience)) return false;
    const Job* job = still_to_be_sent(one.job);
    if (job == nullptr) return true;
    take_back(*job, draft, now);
    if (agenda_.in_crowd(*job)) crowd_refused_ = now;
    --left;
    return true;
  });
}

// It was not sent: else the history would tell of an attempt that nobody made, and count it.
void Engine::take_back_changed(const Inbox::Letters& letters, Draft& draft, Instant now) {
  for (const auto& letter : letters.commands) {
    if (awaiting_room_.empty()) return;
    if (const JobKey* key = job_changed_by(letter.command)) {
      const auto stored = draft.job(*key);
      if (!stored || !*stored || still_to_be_sent((*stored)->id) == nullptr) continue;
      take_back_if(draft, now, [&](const Job& job) { return job.id == (*stored)->id; });
    } else if (const CollectionKey* of = collection_changed_by(letter.command)) {
      take_back_if(draft, now, [&](const Job& job) { return same(job.key->collection, *of); });
    }
  }
}

template <typename Condition>
void Engine::take_back_if(Draft& draft, Instant now, Condition condition) {
  std::erase_if(awaiting_room_, [&](const AwaitingRoom& one) {
    const Job* job = still_to_be_sent(one.job);
    if (job == nullptr || !condition(*job)) return false;
    take_back(*job, draft, now);
    return true;
  });
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
  const auto superseded = superseded_.find(key_of(attempt));
  if (superseded == superseded_.end()) return;
  draft.add_rows({superseded_row(superseded->second, attempt, outcome)});
}

std::vector<Engine::Answer> Engine::apply_all(Inbox::Letters& letters, Draft& draft, Instant now) {
  Applying with{draft, options_.plans, now, [this, now] { return mint_id(now); }, nullptr};
  std::vector<Answer> answers;
  answers.reserve(letters.commands.size());
  for (auto& letter : letters.commands) {
    std::string key = belfry::key_of(letter.command);
    Trail trail;
    with.trail = letter.request ? &trail : nullptr;
    auto reply = apply_command(letter.command, with);
    if (reply && trail.result) {
      draft.add_audit(key, {std::move(*letter.request), now, *trail.result, std::move(trail.before),
                            std::move(trail.after)});
    }
    answers.push_back({std::move(key), std::move(letter.reply_to), std::move(reply)});
  }
  return answers;
}

bool Engine::refill(Instant now) {
  // The clock may have been put back.
  if (now < agenda_renewed_ || now - agenda_renewed_ >= options_.agenda_renewed_every) {
    agenda_.clear();
    agenda_renewed_ = now;
  }
  const Instant until = now + options_.start_ahead;
  while (const auto wanted = agenda_.wants_load(until)) {
    auto jobs = store_.due(*wanted);
    if (!jobs) {
      lose_store(jobs.error());
      return false;
    }
    agenda_.load(*wanted, std::move(*jobs), until);
  }
  return true;
}

void Engine::begin_due(Draft& draft, Instant now) {
  if (!starting_ || started_.size() >= options_.in_flight_max) return;
  const std::size_t room = options_.in_flight_max - started_.size();
  const std::size_t starts_max = std::min(starts_per_step_max(), room);
  const std::size_t begun = begin_due_of(agenda_.others(), starts_max, draft, now);
  const std::size_t of_crowd = std::min(crowd_starts_max(now), room_for_crowd(now));
  begin_due_of(agenda_.crowd(), std::min(of_crowd, starts_max - begun), draft, now);
}

// So many wait for room that more would only wait with them.
bool Engine::short_of_room() const {
  return awaiting_room_.size() > options_.crowd_awaiting_room_max;
}

// All the same some are begun: others' targets may have room.
std::size_t Engine::starts_per_step_max() const {
  return short_of_room() ? std::min(kStartsShortOfRoom, options_.starts_per_step_max)
                         : options_.starts_per_step_max;
}

// Nothing is ahead of its time that would have to wait.
Ticks Engine::start_ahead() const {
  return short_of_room() ? Ticks{0} : options_.start_ahead;
}

std::size_t Engine::room_for_crowd(Instant now) const {
  const std::size_t waiting_max =
      others_soon(now) ? options_.crowd_starts_per_step_max : options_.crowd_awaiting_room_max;
  return waiting_max - std::min(waiting_max, crowd_awaiting_room());
}

// Not what others have waiting: their targets may be other ones, and hang.
std::size_t Engine::crowd_awaiting_room() const {
  const auto of_crowd = [](const AwaitingRoom& one) { return one.of_crowd; };
  return static_cast<std::size_t>(
      std::count_if(awaiting_room_.begin(), awaiting_room_.end(), of_crowd));
}

// So few that the step is over before the others' next jobs are due.
std::size_t Engine::crowd_starts_max(Instant now) const {
  if (!others_soon(now)) return options_.starts_per_step_max;
  if (crowd_rests_until(now)) return 0;
  return crowd_refused_within(kCrowdTried, now) ? options_.crowd_tries_per_step_max
                                                : options_.crowd_starts_per_step_max;
}

bool Engine::others_soon(Instant now) const {
  const auto others = agenda_.others().earliest();
  return others && *others <= now + std::chrono::seconds{1};
}

// The clock may have been put back.
bool Engine::crowd_refused_within(Ticks span, Instant now) const {
  return crowd_refused_ <= now && now - crowd_refused_ < span;
}

std::optional<Instant> Engine::crowd_rests_until(Instant now) const {
  if (!crowd_refused_within(options_.crowd_rest, now) || !others_soon(now)) return std::nullopt;
  return crowd_refused_ + options_.crowd_rest;
}

std::size_t Engine::begin_due_of(Agenda& agenda, std::size_t starts_max, Draft& draft,
                                 Instant now) {
  std::size_t begun = 0;
  while (begun < starts_max) {
    const auto due = agenda.earliest();
    if (!due || *due > now + start_ahead()) break;
    Job job = agenda.take_first();
    // A command of this very step changed it: it comes back to the agenda as it now is.
    if (draft.touched(job)) continue;
    Settlement settlement = begin(std::move(job), std::max(now, *due), options_.catch_up);
    draft.advance(std::move(settlement.job), std::move(settlement.rows), settlement.what);
    ++begun;
  }
  return begun;
}

// False when the store failed: nothing of this step stands, and every answer says so.
bool Engine::commit(const Draft::Keyed& writes, std::vector<Answer>& answers) {
  FAILPOINT("before-commit");
  for (EngineObserver* observer : options_.observers) observer->committing();
  const auto results = store_.commit(writes.writes);
  FAILPOINT("after-commit");
  for (EngineObserver* observer : options_.observers) {
    results ? observer->committed(writes.writes, *results) : observer->commit_failed();
  }
  if (!results) {
    lose_store(results.error());
    for (Answer& answer : answers) {
      if (answer.reply) answer.reply = results.error();
    }
    return false;
  }
  std::unordered_set<std::string_view> refused;
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

void Engine::send_unsent(Instant now) {
  if (!starting_) return;
  send_awaiting_room(now);
  std::vector<Unsent> in_vain;  // go behind those that were not tried
  for (const Unsent& unsent : std::exchange(unsent_, {})) {
    if (in_vain.size() == kResendsInVainMax && unsent.perhaps_sent) {
      unsent_.push_back(unsent);
      continue;
    }
    const Job* job = still_to_be_sent(unsent.job);
    if (job == nullptr || send(*job, now)) continue;
    // A start that led to nothing can be taken back. One that may have been sent before a crash
    // stands: sent again it must have the same id.
    if (unsent.perhaps_sent) {
      in_vain.push_back(unsent);
    } else {
      const bool may_wait = awaiting_room_.size() < options_.awaiting_room_max;
      awaiting_room_.push_back(
          {unsent.job, may_wait ? now + options_.room_patience : now, agenda_.in_crowd(*job)});
    }
  }
  unsent_.insert(unsent_.end(), in_vain.begin(), in_vain.end());
}

// They take turns: those of a target that hangs do not keep the others from trying.
void Engine::send_awaiting_room(Instant now) {
  std::size_t in_vain = 0;
  const std::size_t in_vain_max = others_soon(now) ? kTriesInVainBesideOthersMax : kTriesInVainMax;
  for (auto left = awaiting_room_.size(); left > 0 && in_vain < in_vain_max; --left) {
    const AwaitingRoom one = awaiting_room_.front();
    awaiting_room_.pop_front();
    const Job* job = still_to_be_sent(one.job);
    if (job == nullptr || send(*job, now)) continue;
    awaiting_room_.push_back(one);
    ++in_vain;
  }
}

// None: it was sent meanwhile, or is suspended, another start by now, or gone.
const Job* Engine::still_to_be_sent(JobId id) const {
  const auto it = started_.find(id);
  if (it == started_.end() || it->second.next->suspended) return nullptr;
  if (in_flight_.contains(key_of(attempt_of(it->second)))) return nullptr;
  return &it->second;
}

bool Engine::send(const Job& job, Instant now) {
  const Attempt attempt = attempt_of(job);
  // Begun before the clock was put back, it is not due again.
  const Instant not_before = std::min(job.next->due, now + options_.start_ahead);
  FAILPOINT("before-send");
  if (!dispatcher_.send(attempt, job, not_before)) return false;
  FAILPOINT("after-send");
  in_flight_.insert(key_of(attempt));
  return true;
}

Instant Engine::next_step(Instant now) const {
  if (!recovered_) return now + options_.store_backoff;
  Instant next = next_sweep_;
  for (const AwaitingRoom& one : awaiting_room_) next = std::min(next, one.until);
  if (starting_ && !unsent_.empty()) next = std::min(next, now + options_.refused_backoff);
  if (starting_ && started_.size() < options_.in_flight_max) {
    if (const auto due = agenda_.others().earliest()) {
      next = std::min(next, *due - start_ahead());
    }
    if (const auto due = agenda_.crowd().earliest(); due && room_for_crowd(now) > 0) {
      const Instant rested = crowd_rests_until(now).value_or(now);
      next = std::min(next, std::max(*due - start_ahead(), rested));
    }
    next = std::min(next, agenda_.loads_at());
  }
  return std::max(next, now);
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
