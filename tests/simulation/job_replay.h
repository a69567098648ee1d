// SPDX-License-Identifier: MIT
//
// JobReplay follows one job through the record of a run and says what it must look like after
// every event, from the rules of docs/job-lifecycle.md, a calendar of its own
// (planned_instants.h) and what was asked and answered. It shares no code with src/engine and
// src/recurrence. Whatever differs is a fault.
//
// It goes through the record once and remembers little, so that a run of millions of events
// can be judged while it happens.

#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "engine/settle.h"
#include "tests/simulation/planned_instants.h"
#include "tests/simulation/record.h"

namespace belfry {

struct ReplayRules {
  CatchUp catch_up = CatchUp::latest;
  Ticks start_ahead{0};
  Ticks refused_backoff = std::chrono::seconds{1};
  Ticks refused_backoff_max = std::chrono::minutes{1};
  Ticks ended_jobs_kept = std::chrono::days{60};
};

class JobReplay {
 public:
  JobReplay(const ReplayRules& rules, std::vector<std::string>& faults)
      : rules_(rules), faults_(faults) {}

  void see(const Event& event);

  // The run is over, and so is whatever was being tried.
  void finish(Instant now);

 private:
  // An occurrence that is being tried.
  static constexpr std::int64_t kNeverSent = -1;
  struct Chain {
    DueAttempt next;  // of planned origin: counts towards recurrence.count
    bool refused = false;
    bool noted = false;
    std::int64_t begun_in_step = 0;
    std::int64_t sent_in_life = kNeverSent;
    Instant covered_before;
    std::vector<Outcome> answers;
  };
  struct ExpectedRow {
    RowKind kind;
    Instant first;
    Instant last;
    std::int64_t count;
    ActionRole role = ActionRole::main;  // of an attempt that was not made
    int retry = 0;
  };
  struct Place {
    std::int64_t seq;
    ActionRole role;
    int retry;
    auto operator<=>(const Place&) const = default;
  };

  static Place place_of(const Occurrence& occurrence, ActionRole role, int retry) {
    return {occurrence.seq, role, retry};
  }
  static Place place_of(const DueAttempt& next) {
    return place_of(next.occurrence, next.role, next.retry);
  }

  void on(const Wrote& wrote);
  void on(const Unstarted& unstarted);
  void on(const Saw& saw);
  void on(const Sent& sent);
  void on(const Answered& answered);
  void on(const Recorded& recorded);
  void on(const Removed& removed);
  void on(const Crashed& crashed);
  void on(const ClockSet& clock_set);

  void put(const Wrote& wrote);
  void patch(const Wrote& wrote);
  void run();
  void define();
  void redefine(const Timing& before);
  void suspend();
  void pass_over();
  void go_on();
  void end_chain();
  void conclude(bool last_failed, Instant at);
  void conclude_at_rest(bool last_failed);
  void end(bool failed, Instant at);

  void settle(const HistoryEntry& row);
  void finish_occurrence(bool last_failed);
  void supersede(const HistoryEntry& row);
  void record_gap(RowKind kind, const HistoryEntry& row);
  void record_absence(const HistoryEntry& row);
  void record_unmade(const HistoryEntry& row);
  std::optional<Instant> last_planned_until(Instant until);
  void expect_gap(RowKind kind, Instant until);

  void check_next(const std::optional<DueAttempt>& next);
  void check_suspended(const std::optional<DueAttempt>& next);
  void check_waiting(const DueAttempt& next);
  void check_begun(const DueAttempt& next);
  void begin_occurrence(const DueAttempt& next);
  void check_planned_begin(const DueAttempt& next);

  bool is_new(std::int64_t seq) const { return seq > used_seq_ && !gap_seqs_.contains(seq); }
  void use(std::int64_t seq);
  bool running() const { return state_ == JobState::enabled && collection_runs_; }
  bool final() const { return state_ == JobState::completed || state_ == JobState::faulted; }
  std::optional<Instant> planned_next();
  std::optional<Instant> planned_after(Instant after);
  const std::optional<RetryPolicy>& policy(ActionRole role) const;
  int retries_allowed(ActionRole role) const;
  Ticks retry_interval(ActionRole role) const;

  void expect(bool holds, const char* what) {
    if (!holds) fault(what);
  }
  // What takes time to say is only said when needed.
  template <std::invocable Say>
  void expect(bool holds, Say say) {
    if (!holds) fault(say());
  }
  void fault(const std::string& what);

  const ReplayRules rules_;
  std::vector<std::string>& faults_;

  // Of the event that is being looked at.
  std::int64_t step_ = 0;
  Instant now_;

  bool exists_ = false;
  JobDefinition definition_;
  Ticks retry_interval_default_{};
  bool collection_runs_ = true;
  JobState state_ = JobState::enabled;
  std::int64_t gen_ = 0;
  JobStatus status_;
  std::optional<Instant> ended_;
  std::int64_t last_seq_ = 0;        // as stored
  std::int64_t used_seq_ = 0;        // the highest of an occurrence that was sent or has a row
  std::set<std::int64_t> gap_seqs_;  // of gaps, above that

  PlannedInstants calendar_;
  Instant made_at_;  // or made to recur
  std::int64_t ran_ = 0;
  Instant covered_;     // planned instants up to here have their record, or are not owed
  Instant owed_until_;  // fired however late

  std::optional<Chain> chain_;
  std::optional<Instant> extra_;           // asked for with run, and not begun
  std::optional<Instant> deferred_until_;  // what waits was refused before
  std::vector<ExpectedRow> expected_rows_;
  bool moved_to_latest_ = false;
  std::map<Place, std::vector<Outcome>> superseded_;  // on the wire, leading to nothing
  std::int64_t life_ = 0;                             // of the engine: crashes so far
  std::int64_t clock_set_in_step_ = -1;
};

}  // namespace belfry
