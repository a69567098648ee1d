// SPDX-License-Identifier: MIT
//
// Engine runs jobs, one step at a time. A step takes what came in (outcomes, commands),
// begins what is due, commits all of it as one transaction, and only then sends and answers.
// It has no threads, timers or sockets: it is given a Store, a Dispatcher and the time, so a
// simulation is just another loop around step().
//
// Holds: nothing is sent whose start is not durable, nothing is answered that is not durable
// (docs/invariants.md, 3 and 5); an occurrence is never sent before it is due. When the
// store fails, everything in the step is answered "unavailable" and read again.
//
// submit() and report() may be called from any thread, everything else from one.

#pragma once

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "dispatch/dispatcher.h"
#include "engine/command.h"
#include "engine/draft.h"
#include "engine/engine_observer.h"
#include "engine/fair_agenda.h"
#include "engine/inbox.h"
#include "engine/settle.h"
#include "engine/store_health.h"
#include "model/plan.h"
#include "store/store.h"

namespace belfry {

struct EngineOptions {
  CatchUp catch_up = CatchUp::latest;
  Plans plans = Plans::azure();
  std::size_t agenda_max = 2'000;  // more would leave the processor's cache, and take long to load
  // It is loaded from the beginning so often: what is missing on it would wait for ever.
  Ticks agenda_renewed_every = std::chrono::minutes{5};
  std::size_t in_flight_max = 10'000;
  std::size_t starts_per_step_max = 1'000;
  // Of them a crowd's (engine/fair_agenda.h), while others have something due soon.
  std::size_t crowd_starts_per_step_max = 200;
  // Of a crowd that was refused a moment ago: to see whether there is room again.
  std::size_t crowd_tries_per_step_max = 20;
  // And it rests so long, while others have something due soon, after a target refused some of it:
  // to begin it and to put it off again is work for nothing, in the way of theirs.
  Ticks crowd_rest = std::chrono::milliseconds{100};
  // A start is made durable so long before it is due, and goes out when it is: a slow disk makes
  // no call late. 0: the dispatcher cannot wait.
  Ticks start_ahead{0};
  // A start that its target has no room for waits so long for some: a target that answers soon has.
  // Then it is taken back. So many may wait: all that can be in memory.
  Ticks room_patience = std::chrono::seconds{1};
  std::size_t awaiting_room_max = 4'000;
  // A crowd begins no more than may wait: enough for the connections to have work until the next
  // step, and so few that they are still in the processor's cache when they are settled.
  std::size_t crowd_awaiting_room_max = 200;
  Ticks refused_backoff = std::chrono::seconds{1};      // after a start was taken back;
  Ticks refused_backoff_max = std::chrono::minutes{1};  // a quarter of its lateness, within both
  Ticks store_backoff = std::chrono::seconds{1};        // after the store failed
  Ticks history_kept = std::chrono::days{60};
  Ticks ended_jobs_kept = std::chrono::days{60};
  Ticks sweep_every = std::chrono::seconds{1};
  // At a time, and one more for each row of history written since the last time: so few that nobody
  // notices, and more than come.
  std::size_t sweep_rows = 100;
  std::size_t sweep_rows_max = 1'000;
  std::vector<EngineObserver*> observers;
};

class Engine {
 public:
  Engine(Store& store, Dispatcher& dispatcher, Random random, EngineOptions options);

  // Called when a step could not use the store, and when it could again: not in between.
  void set_log(StoreHealth::Log log) { store_health_.set_log(std::move(log)); }

  // Any thread. False: too many commands are waiting; nothing will be answered. Where it is said
  // who asked, the audit log tells of what changed, in the same transaction.
  bool submit(Command command, ReplyTo reply_to, std::optional<AuditedRequest> request = {}) {
    return inbox_.submit({std::move(command), std::move(reply_to), std::move(request)});
  }
  void report(const Attempt& attempt, Outcome outcome) {
    inbox_.report(attempt, std::move(outcome));
  }
  Inbox& inbox() { return inbox_; }

  // Does everything that is due at `now` and says when to call again at the latest, unless
  // something comes in before.
  Instant step(Instant now);

  // Removes all that is too old at `now`, however long it takes: for a clock that stands still
  // meanwhile.
  void sweep_all(Instant now);

  // While held, nothing new is begun or sent; what is on the wire is still settled.
  void hold(bool held) { starting_ = !held; }
  std::size_t in_flight() const { return in_flight_.size(); }
  bool healthy() const { return recovered_; }  // what is in memory is what is stored

  // Why the store cannot be used; empty while it can. Any thread.
  std::string store_trouble() const { return store_health_.trouble(); }

 private:
  using Reports = std::vector<std::pair<Attempt, Outcome>>;
  using AttemptKey = std::tuple<JobId, std::int64_t, ActionRole, int>;
  // A job has hardly ever two attempts on the wire.
  struct HashOfJob {
    std::size_t operator()(const AttemptKey& key) const {
      return std::hash<JobId>{}(std::get<JobId>(key));
    }
  };
  static AttemptKey key_of(const Attempt& attempt) {
    return {attempt.job, attempt.occurrence.seq, attempt.role, attempt.retry};
  }
  // By a process that died, or lost sight of the store.
  enum class PerhapsSent { no, yes };
  struct Unsent {
    JobId job{};
    bool perhaps_sent = false;
  };
  struct AwaitingRoom {
    JobId job{};
    Instant until{};
    bool of_crowd = false;
  };
  struct Answer {
    std::string key;
    ReplyTo reply_to;
    Result<Reply> reply;
  };

  Status recover();
  Result<std::vector<Job>> with_suspended(std::vector<Job> started);
  std::vector<Answer> turn_away(Inbox::Letters& letters, const Error& error);
  void take_back(const Job& job, Draft& draft, Instant now);
  void take_back_refused(Draft& draft, Instant now);
  void take_back_changed(const Inbox::Letters& letters, Draft& draft, Instant now);
  template <typename Condition>
  void take_back_if(Draft& draft, Instant now, Condition condition);
  void settle_all(const Reports& reports, Draft& draft, Instant now);
  void settle_one(const Attempt& attempt, const Outcome& outcome, Draft& draft, Instant now);
  std::vector<Answer> apply_all(Inbox::Letters& letters, Draft& draft, Instant now);
  bool refill(Instant now);
  void begin_due(Draft& draft, Instant now);
  std::size_t begin_due_of(Agenda& agenda, std::size_t starts_max, Draft& draft, Instant now);
  std::size_t crowd_starts_max(Instant now) const;
  bool short_of_room() const;
  std::size_t starts_per_step_max() const;
  Ticks start_ahead() const;
  std::size_t room_for_crowd(Instant now) const;
  std::size_t crowd_awaiting_room() const;
  bool others_soon(Instant now) const;
  bool crowd_refused_within(Ticks span, Instant now) const;
  std::optional<Instant> crowd_rests_until(Instant now) const;
  bool commit(const Draft::Keyed& writes, std::vector<Answer>& answers);
  void take_over(const Draft& draft, std::vector<Write> stored);
  void take_over(Job job, PerhapsSent perhaps_sent);
  bool is_awaited(const Job& job) const;
  bool is_on_its_way(const Attempt& attempt) const;
  void supersede_unless_awaited(const Job& before, const Job* after);
  void forget(JobId id);
  void forget_jobs_of(const CollectionKey& key);
  const Job* still_to_be_sent(JobId id) const;
  bool send(const Job& job, Instant now);
  void send_unsent(Instant now);
  void send_awaiting_room(Instant now);
  void sweep(Instant now);
  bool sweep_slice(std::size_t limit, std::size_t echoes_max, Instant now);
  int sweeps_per_interval(std::size_t limit, Instant now) const;
  Instant next_step(Instant now) const;
  void lose_store(const Error& error);
  JobId mint_id(Instant now);

  Store& store_;
  Dispatcher& dispatcher_;
  Random random_;
  EngineOptions options_;
  Inbox inbox_;
  FairAgenda agenda_;
  std::unordered_map<JobId, Job> started_;               // as stored; each awaits an outcome
  std::unordered_set<AttemptKey, HashOfJob> in_flight_;  // sent, and not reported yet
  std::map<AttemptKey, Job> superseded_;    // in flight, but their chain was ended; the job before
  std::vector<Unsent> unsent_;              // started durably, to be sent by this step
  std::deque<AwaitingRoom> awaiting_room_;  // started, but the target's queue is full
  Instant crowd_refused_ = kFirstInstant;   // when one of a crowd was last taken back
  Reports unsettled_;                       // reported, but the store failed before it was settled
  bool recovered_ = false;                  // what is in memory is what is stored
  bool starting_ = true;
  Instant agenda_renewed_ = kFirstInstant;
  Instant next_sweep_ = kFirstInstant;
  std::size_t rows_since_sweep_ = 0;
  std::int64_t last_id_ = 0;
  StoreHealth store_health_;
};

}  // namespace belfry
