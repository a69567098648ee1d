// SPDX-License-Identifier: MIT
//
// What writes make of the job, and what the stored row must then say. Rows of the history are
// in job_replay_rows.cpp.

#include "tests/simulation/job_replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace belfry {

constexpr Ticks kStillOnTime = std::chrono::seconds{30};

void JobReplay::fault(const std::string& what) {
  faults_.push_back(fmt::format("step {} at {}: {}", step_, format_instant(now_), what));
}

void JobReplay::see(const Event& event) {
  step_ = event.step;
  now_ = event.now;
  std::visit([this](const auto& what) { on(what); }, event.what);
}

void JobReplay::finish(Instant now) {
  now_ = now;
  if (!exists_) return;
  const bool awaited = chain_ && chain_->next.started && chain_->sent_in_life == life_;
  expect(!chain_ || (!running() && !awaited), "an occurrence is still being tried at the end");
  expect(!extra_ || !running(), "a run that was asked for never began");
  expect(expected_rows_.empty(), "a row is missing at the end");
  const auto next = running() ? planned_next() : std::nullopt;
  if (next)
    expect(*next > now, [&] { return fmt::format("nothing came of {}", format_instant(*next)); });
  for (const auto& [place, answers] : superseded_) {
    expect(answers.empty(),
           [&] { return fmt::format("the answer of superseded #{} was lost", place.seq); });
  }
}

std::optional<Instant> JobReplay::planned_after(Instant after) {
  const auto& recurrence = definition_.timing.recurrence;
  if (recurrence && recurrence->count && ran_ >= *recurrence->count) return std::nullopt;
  return calendar_.first_after(after);
}

std::optional<Instant> JobReplay::planned_next() {
  return planned_after(covered_);
}

void JobReplay::on(const Wrote& wrote) {
  const bool state_alone =
      wrote.kind == WriteKind::put && exists_ && !final() && *wrote.definition == definition_;
  // Who puts what is there changes nothing.
  if (state_alone && wrote.enabled == (state_ == JobState::enabled)) return;
  ++gen_;
  if (state_alone) return patch(wrote);
  retry_interval_default_ = wrote.retry_interval_default;
  switch (wrote.kind) {
    case WriteKind::put:
      return put(wrote);
    case WriteKind::patch:
      return patch(wrote);
    case WriteKind::run:
      return run();
    case WriteKind::suspend:
      if (running()) suspend();
      collection_runs_ = false;
      return;
    case WriteKind::resume:
      collection_runs_ = true;
      if (state_ == JobState::enabled) go_on();
      return conclude(false, now_);
    case WriteKind::touch:
      return;
  }
}

void JobReplay::put(const Wrote& wrote) {
  const Timing before = exists_ && !final() ? definition_.timing : Timing{};
  if (exists_) {
    const bool owes = running() || calendar_.once();
    end_chain();
    if (extra_) expected_rows_.push_back({RowKind::unmade, *extra_, *extra_, 1});
    if (owes) expect_gap(RowKind::change_gap, now_);
  }
  exists_ = true;
  extra_.reset();
  deferred_until_.reset();
  definition_ = *wrote.definition;
  collection_runs_ = wrote.collection_runs;
  state_ = wrote.enabled ? JobState::enabled : JobState::disabled;
  ended_.reset();
  status_ = {};
  redefine(before);
  conclude(false, now_);
}

void JobReplay::patch(const Wrote& wrote) {
  expect(state_ == JobState::enabled || state_ == JobState::disabled,
         "a job that has ended was patched");
  const bool new_timing = wrote.definition->timing != definition_.timing;
  const bool ran_before = running();
  const bool runs_after = wrote.enabled && wrote.collection_runs;
  const bool orphaned =
      chain_ && chain_->next.role == ActionRole::error && !wrote.definition->error_action;
  if (orphaned) end_chain();
  if (new_timing && (ran_before || calendar_.once())) {
    expect_gap(RowKind::change_gap, now_);
    if (!extra_) deferred_until_.reset();
  }
  if (orphaned && ran_before) pass_over();
  if (!runs_after && ran_before) suspend();
  const Timing before = definition_.timing;
  definition_ = *wrote.definition;
  collection_runs_ = wrote.collection_runs;
  state_ = wrote.enabled ? JobState::enabled : JobState::disabled;
  if (new_timing) {
    redefine(before);
    if (chain_) chain_->next.origin = Origin::extra;
  }
  if (runs_after && !ran_before) go_on();
  conclude(orphaned, now_);
  if (orphaned && !runs_after) conclude_at_rest(true);
}

void JobReplay::run() {
  expect(running(), "a job that does not run was asked to run and did not refuse");
  if (chain_) {
    expect(!chain_->next.started, "a run was accepted while an attempt was on the wire");
    chain_->next.due = now_;
  } else {
    expect(!extra_, "a run was accepted while an earlier one waited");
    extra_ = now_;
    deferred_until_.reset();
  }
}

void JobReplay::define() {
  made_at_ = now_;
  calendar_ = PlannedInstants(definition_.timing, now_);
  ran_ = 0;
  owed_until_ = Instant{};
  covered_ = now_ - kOneTick;
}

// A job that recurs still does not run at once again.
void JobReplay::redefine(const Timing& before) {
  const Timing& timing = definition_.timing;
  const Instant made_at = made_at_;
  define();
  if (!before.recurrence || !timing.recurrence) return;
  made_at_ = made_at;
  calendar_ = PlannedInstants::redefined(timing, made_at, now_);
  covered_ = timing.start_time ? now_ : std::max(now_, made_at);
}

// What was begun or asked for goes on when the job runs again.
void JobReplay::suspend() {
  pass_over();
  if (!extra_) deferred_until_.reset();
}

// What runs once still runs, late.
void JobReplay::pass_over() {
  if (!calendar_.once()) return expect_gap(RowKind::change_gap, now_);
  owed_until_ = std::max(owed_until_, now_);
}

// Nothing new is owed for the time in which the job did not run, but what runs once runs once.
void JobReplay::go_on() {
  if (!calendar_.once()) {
    covered_ = std::max(covered_, now_);
  } else {
    owed_until_ = std::max(owed_until_, now_);
  }
}

void JobReplay::end_chain() {
  if (!chain_) return;
  if (!chain_->next.started) {
    const DueAttempt& next = chain_->next;
    const Instant at = next.occurrence.scheduled_for;
    expected_rows_.push_back({RowKind::unmade, at, at, 1, next.role, next.retry});
  } else {
    if (!chain_->noted) expected_rows_.push_back({RowKind::note, now_, now_, 1});
    const bool main = chain_->next.role == ActionRole::main;
    if (main && chain_->next.retry == 0) {
      ++status_.executions;
      if (chain_->next.origin == Origin::planned) ++ran_;
    }
    if (main) status_.last_execution = chain_->next.started;
    if (chain_->sent_in_life == life_) superseded_[place_of(chain_->next)] = chain_->answers;
  }
  chain_.reset();
}

void JobReplay::conclude(bool last_failed, Instant at) {
  if (!running() || chain_ || extra_ || planned_next()) return;
  end(last_failed, at);
}

// Nothing would be left to do if it were enabled now.
void JobReplay::conclude_at_rest(bool last_failed) {
  const Instant after = calendar_.once() ? covered_ : std::max(covered_, now_);
  if (!planned_after(after)) end(last_failed, now_);
}

void JobReplay::end(bool failed, Instant at) {
  state_ = failed ? JobState::faulted : JobState::completed;
  ended_ = at;
}

void JobReplay::on(const Unstarted&) {
  if (!chain_ || !chain_->next.started || !chain_->refused) {
    return fault("a start was taken back that no target refused");
  }
  expect(chain_->sent_in_life == kNeverSent, "a start was taken back that had been sent");
  Chain& chain = *chain_;
  chain.refused = false;
  chain.next.started.reset();
  const Instant planned = chain.next.occurrence.scheduled_for;
  const Ticks quarter = planned < now_ ? (now_ - planned) / 4 : Ticks{0};
  const Ticks backoff =
      std::max(rules_.refused_backoff, std::min(quarter, rules_.refused_backoff_max));
  chain.next.due = std::max(now_ + backoff, planned);
  if (chain.next.open()) return;
  deferred_until_ = chain.next.due;
  covered_ = chain.covered_before;
  if (chain.next.origin == Origin::extra) extra_ = chain.next.occurrence.scheduled_for;
  chain_.reset();
}

void JobReplay::on(const Saw& saw) {
  for (const ExpectedRow& row : expected_rows_) {
    fault(row.kind == RowKind::note
              ? "an attempt on the wire was superseded without a note"
              : fmt::format("no row covers {} to {}, {} occurrences", format_instant(row.first),
                            format_instant(row.last), row.count));
  }
  expected_rows_.clear();
  expect(exists_, "a job is stored that nobody put");
  expect(saw.gen == gen_, [&] { return fmt::format("gen is {} and not {}", saw.gen, gen_); });
  expect(saw.state == state_, [&] {
    return fmt::format("state is {} and not {}", static_cast<int>(saw.state),
                       static_cast<int>(state_));
  });
  expect(saw.ended == ended_, "it ended at another time");
  expect(saw.status.executions == status_.executions, [&] {
    return fmt::format("{} executions and not {}", saw.status.executions, status_.executions);
  });
  expect(saw.status.failures == status_.failures, [&] {
    return fmt::format("{} failures and not {}", saw.status.failures, status_.failures);
  });
  expect(saw.status.faults == status_.faults,
         [&] { return fmt::format("{} faults and not {}", saw.status.faults, status_.faults); });
  expect(saw.status.last_execution == status_.last_execution, "another last execution");
  expect(saw.last_seq >= last_seq_, "the highest seq went back");
  last_seq_ = saw.last_seq;
  check_next(saw.next);
}

void JobReplay::check_next(const std::optional<DueAttempt>& next) {
  if (!running()) return check_suspended(next);
  if (!next) return fault("a job that runs waits for nothing");
  expect(!next->suspended, "a job that runs is suspended");
  expect(next->occurrence.seq <= last_seq_, "a seq above the highest");
  if (chain_ && chain_->next.started) {
    return expect(*next == chain_->next, "an attempt on the wire is no longer waited for");
  }
  if (next->started) return check_begun(*next);
  check_waiting(*next);
}

void JobReplay::check_suspended(const std::optional<DueAttempt>& next) {
  if (!chain_ && !extra_) return expect(!next, "a job that does not run waits for something");
  if (!next) return fault("what was open when the job was disabled is gone");
  expect(next->suspended, "what was open when the job was disabled is not suspended");
  DueAttempt seen = *next;
  seen.suspended = false;
  if (!chain_) return check_waiting(seen);
  expect(seen == chain_->next, "something else is suspended than was open");
}

void JobReplay::check_waiting(const DueAttempt& next) {
  expect(!moved_to_latest_, "the latest missed occurrence did not begin");
  moved_to_latest_ = false;
  if (chain_) {
    return expect(next == chain_->next, [&] {
      return fmt::format("waits not for the retry that is due {}",
                         format_instant(chain_->next.due));
    });
  }
  expect(!next.open(), "an attempt waits that nothing led to");
  const auto scheduled_for = extra_ ? extra_ : planned_next();
  expect(next.origin == (extra_ ? Origin::extra : Origin::planned), "of the wrong origin");
  expect(next.occurrence.scheduled_for == scheduled_for, [&] {
    return fmt::format("waits for {} and not for {}", format_instant(next.occurrence.scheduled_for),
                       scheduled_for ? format_instant(*scheduled_for) : "nothing");
  });
  expect(is_new(next.occurrence.seq), "waits with a seq that was used");
  const Instant due = deferred_until_.value_or(next.occurrence.scheduled_for);
  expect(next.due == due, [&] {
    return fmt::format("due {} and not {}", format_instant(next.due), format_instant(due));
  });
}

void JobReplay::check_begun(const DueAttempt& next) {
  const Instant begun = std::max(now_, next.due);
  expect(begun <= now_ + rules_.start_ahead, "begun before it was due");
  expect(next.started == begun, "begun at another time than when it is due, or now");
  if (!chain_) return begin_occurrence(next);
  DueAttempt expected = chain_->next;
  expected.started = begun;
  expect(next == expected, [&] {
    return fmt::format("another attempt was begun than the one due {}",
                       format_instant(expected.due));
  });
  chain_->next = next;
  chain_->begun_in_step = step_;
  chain_->sent_in_life = kNeverSent;
}

void JobReplay::begin_occurrence(const DueAttempt& next) {
  expect(next.role == ActionRole::main && next.retry == 0, "a chain began in its middle");
  expect(is_new(next.occurrence.seq), "a seq came back");
  expect(next.occurrence.scheduled_for <= now_ + rules_.start_ahead, "begun early");
  chain_ = Chain{.next = next, .begun_in_step = step_, .covered_before = covered_, .answers = {}};
  if (extra_) {
    expect(next.origin == Origin::extra && next.occurrence.scheduled_for == *extra_,
           "another occurrence was begun than the run that was asked for");
    extra_.reset();
  } else {
    check_planned_begin(next);
    covered_ = std::max(covered_, next.occurrence.scheduled_for);
  }
  deferred_until_.reset();
  moved_to_latest_ = false;
}

void JobReplay::check_planned_begin(const DueAttempt& next) {
  expect(next.origin == Origin::planned, "an extra occurrence that nobody asked for");
  const Instant scheduled_for = next.occurrence.scheduled_for;
  const auto planned = planned_next();
  expect(planned == scheduled_for, [&] {
    return fmt::format("{} was begun and not {}", format_instant(scheduled_for),
                       planned ? format_instant(*planned) : "nothing");
  });
  if (!moved_to_latest_) {
    expect(next.due == deferred_until_.value_or(scheduled_for), "due at another time than planned");
  }
  const Instant begun = *next.started;
  if (begun - scheduled_for <= kStillOnTime) return;
  const auto following = planned_after(scheduled_for);
  switch (rules_.catch_up) {
    case CatchUp::latest:
      return expect(!following || *following > begun || scheduled_for <= owed_until_,
                    "a late occurrence that is not the latest");
    case CatchUp::all:
      owed_until_ = std::max(owed_until_, begun);
      return;
    case CatchUp::none:
      return expect(scheduled_for <= owed_until_, "a late occurrence was begun");
  }
}

void JobReplay::on(const Removed& removed) {
  if (removed.swept) {
    expect(ended_ && now_ - *ended_ > rules_.ended_jobs_kept, "a job was swept too early");
  }
  exists_ = false;
  chain_.reset();
  extra_.reset();
  superseded_.clear();
  expected_rows_.clear();
}

void JobReplay::on(const Crashed&) {
  ++life_;
  superseded_.clear();
  if (!chain_) return;
  chain_->answers.clear();
  chain_->refused = false;
}

void JobReplay::on(const ClockSet&) {
  clock_set_in_step_ = step_;
}

}  // namespace belfry
