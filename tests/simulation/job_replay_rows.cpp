// SPDX-License-Identifier: MIT
//
// What is sent and answered, and which rows of the history must tell of it.

#include <fmt/format.h>

#include <algorithm>

#include "tests/simulation/job_replay.h"

namespace belfry {

constexpr Ticks kStillOnTime = std::chrono::seconds{30};

void JobReplay::on(const Sent& sent) {
  expect(sent.durable, "sent before its start was durable");
  if (!chain_ || !chain_->next.started) return fault("sent, though nothing was begun");
  expect(running(), "sent, though the job does not run");
  if (sent.attempt != chain_->next) return fault("sent, though another attempt was begun");
  const bool clock_was_set = clock_set_in_step_ >= chain_->begun_in_step;
  expect(clock_was_set || sent.leaves >= *chain_->next.started, "sent early");
  chain_->refused = !sent.accepted;
  if (!sent.accepted) return;
  expect(chain_->sent_in_life != life_, "sent twice without a crash in between");
  chain_->sent_in_life = life_;
  use(sent.attempt.occurrence.seq);
}

void JobReplay::on(const Answered& answered) {
  const Attempt& attempt = answered.attempt;
  const Place place = place_of(attempt.occurrence, attempt.role, attempt.retry);
  if (const auto it = superseded_.find(place); it != superseded_.end()) {
    it->second.push_back(answered.outcome);
    return;
  }
  const bool awaited = chain_ && chain_->next.started && place_of(chain_->next) == place;
  if (exists_) expect(awaited, "answered, though it was not sent");
  if (awaited) {
    expect(chain_->sent_in_life == life_, "answered, though it was not sent");
    chain_->answers.push_back(answered.outcome);
  }
}

void JobReplay::on(const Recorded& recorded) {
  const HistoryEntry& row = recorded.row;
  switch (recorded.kind) {
    case RowKind::attempt:
      return settle(row);
    case RowKind::superseded:
      return supersede(row);
    case RowKind::note: {
      const Place place = place_of(row.occurrence, row.role, row.retry);
      const bool live = chain_ && chain_->next.started && place_of(chain_->next) == place;
      if (!live || chain_->noted) return fault("a note on an attempt that is not on the wire");
      chain_->noted = true;
      return use(row.occurrence.seq);
    }
    case RowKind::absence_gap:
      return record_absence(row);
    case RowKind::unmade:
      return record_unmade(row);
    case RowKind::overlap_gap:
    case RowKind::change_gap:
      return record_gap(recorded.kind, row);
  }
}

namespace {

bool tells(const HistoryEntry& row, const Outcome& outcome) {
  const auto status = outcome.succeeded ? HistoryStatus::completed : HistoryStatus::failed;
  return row.status == status && row.started == outcome.started && row.ended == outcome.ended;
}

bool tells_one_of(const HistoryEntry& row, const std::vector<Outcome>& answers) {
  return std::any_of(answers.begin(), answers.end(),
                     [&](const Outcome& outcome) { return tells(row, outcome); });
}

}  // namespace

void JobReplay::use(std::int64_t seq) {
  used_seq_ = std::max(used_seq_, seq);
  gap_seqs_.erase(gap_seqs_.begin(), gap_seqs_.upper_bound(used_seq_));
}

void JobReplay::settle(const HistoryEntry& row) {
  const Place place = place_of(row.occurrence, row.role, row.retry);
  if (!chain_ || !chain_->next.started || place_of(chain_->next) != place) {
    return fault(fmt::format("a row of #{} that nothing leads to", place.seq));
  }
  DueAttempt& next = chain_->next;
  expect(row.occurrence == next.occurrence, "a row of another instant than was begun");
  expect(!row.gap, "an attempt's row that claims to cover a gap");
  expect(tells_one_of(row, chain_->answers), "a row that says what nobody answered");
  chain_->answers.clear();
  use(place.seq);

  const bool succeeded = row.status == HistoryStatus::completed;
  if (next.role == ActionRole::main) {
    if (next.retry == 0) {
      ++status_.executions;
      if (next.origin == Origin::planned) ++ran_;
    }
    status_.last_execution = row.started;
    if (!succeeded) ++status_.failures;
  }
  expect(row.repeat == status_.executions, "a row with another repeat count");
  if (succeeded) return finish_occurrence(next.role == ActionRole::error);

  next.started.reset();
  if (next.retry < retries_allowed(next.role)) {
    ++next.retry;
    next.due = now_ + retry_interval(next.role);
    return;
  }
  if (next.role == ActionRole::error) return finish_occurrence(true);
  ++status_.faults;
  if (!definition_.error_action) return finish_occurrence(true);
  next.role = ActionRole::error;
  next.retry = 0;
  next.due = now_;
}

void JobReplay::finish_occurrence(bool last_failed) {
  const bool extra = chain_->next.origin == Origin::extra;
  chain_.reset();
  if (!running()) return conclude_at_rest(last_failed);
  const auto next = planned_next();
  Instant until = now_ - kOneTick;
  if (next && *next <= owed_until_) return;
  // A run that was asked for does not take the place of the last planned occurrence.
  const auto latest = last_planned_until(until);
  if (extra && latest && !planned_after(*latest)) {
    owed_until_ = *latest;
    until = *latest - kOneTick;
  }
  expect_gap(RowKind::overlap_gap, until);
  conclude(last_failed, now_);
}

std::optional<Instant> JobReplay::last_planned_until(Instant until) {
  std::optional<Instant> last;
  for (auto next = planned_next(); next && *next <= until; next = planned_after(*next)) last = next;
  return last;
}

const std::optional<RetryPolicy>& JobReplay::policy(ActionRole role) const {
  const auto& error_action = definition_.error_action;
  if (role == ActionRole::error && error_action && error_action->retry_policy) {
    return error_action->retry_policy;
  }
  return definition_.action.retry_policy;
}

int JobReplay::retries_allowed(ActionRole role) const {
  const auto& chosen = policy(role);
  if (chosen && chosen->type == RetryType::none) return 0;
  return chosen && chosen->count ? *chosen->count : 4;
}

Ticks JobReplay::retry_interval(ActionRole role) const {
  const auto& chosen = policy(role);
  return chosen && chosen->interval ? *chosen->interval : retry_interval_default_;
}

void JobReplay::supersede(const HistoryEntry& row) {
  const auto it = superseded_.find(place_of(row.occurrence, row.role, row.retry));
  if (it == superseded_.end()) return fault("a superseded row of an attempt that is not");
  expect(tells_one_of(row, it->second), "a superseded row that says what nobody answered");
  superseded_.erase(it);
}

// Everything planned up to then must now get one row.
void JobReplay::expect_gap(RowKind kind, Instant until) {
  const auto first = planned_next();
  if (!first || *first > until) return;
  ExpectedRow expected{kind, *first, *first, 0};
  for (auto next = first; next && *next <= until; next = planned_after(*next)) {
    expected.last = *next;
    ++expected.count;
  }
  covered_ = expected.last;
  expected_rows_.push_back(expected);
}

void JobReplay::record_gap(RowKind kind, const HistoryEntry& row) {
  expect(is_new(row.occurrence.seq), "a gap with a seq that was used");
  gap_seqs_.insert(row.occurrence.seq);
  const auto it =
      std::find_if(expected_rows_.begin(), expected_rows_.end(), [&](const ExpectedRow& expected) {
        return expected.kind == kind && expected.first == row.occurrence.scheduled_for && row.gap &&
               expected.last == row.gap->last && expected.count == row.gap->count;
      });
  if (it == expected_rows_.end()) return fault("a gap that was not there");
  expect(row.status == HistoryStatus::postponed, "a gap that is not postponed");
  const bool ahead = kind == RowKind::absence_gap && row.started <= now_ + rules_.start_ahead;
  expect(row.started == now_ || (ahead && row.started > now_),
         "a gap that was recorded at another time");
  expect(row.ended == row.started, "a gap that took time");
  expected_rows_.erase(it);
}

// An attempt that waited when the job was replaced, or lost its error action.
void JobReplay::record_unmade(const HistoryEntry& row) {
  const auto it =
      std::find_if(expected_rows_.begin(), expected_rows_.end(), [&](const ExpectedRow& expected) {
        return expected.kind == RowKind::unmade && expected.role == row.role &&
               expected.retry == row.retry && expected.first == row.occurrence.scheduled_for;
      });
  if (it == expected_rows_.end()) return fault("a row of an attempt that did not wait");
  expect(row.status == HistoryStatus::postponed && !row.gap, "an attempt that was made after all");
  expect(row.started == now_ && row.ended == now_, "an end that was recorded at another time");
  expected_rows_.erase(it);
  use(row.occurrence.seq);
}

// Nobody was there in time: the row covers what was missed, all of it or all but the latest.
void JobReplay::record_absence(const HistoryEntry& row) {
  if (!running() || chain_ || extra_) return fault("an absence of a job that waits for no plan");
  const auto first = planned_next();
  const Instant as_of = row.started;
  if (!first || as_of - *first <= kStillOnTime) return fault("an absence that was none");
  expect(rules_.catch_up != CatchUp::all, "an absence though all is to be caught up");
  expect(*first > owed_until_, "an absence of what is owed");
  Instant latest = *first;
  for (auto next = first; next && *next <= as_of; next = planned_after(*next)) latest = *next;
  const bool fires = rules_.catch_up == CatchUp::latest;
  expect_gap(RowKind::absence_gap, fires ? latest - kOneTick : as_of);
  record_gap(RowKind::absence_gap, row);
  deferred_until_.reset();
  moved_to_latest_ = fires;
  conclude(false, as_of);
}

}  // namespace belfry
