// SPDX-License-Identifier: MIT

#include "metrics/run_metrics.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool is_first_attempt(const Attempt& attempt) {
  return attempt.role == ActionRole::main && attempt.retry == 0;
}

// The main action of that occurrence is going to be tried again.
bool tries_again(const Job& job, const HistoryEntry& row) {
  return job.next && job.next->occurrence == row.occurrence && job.next->role == ActionRole::main &&
         job.next->retry > row.retry;
}

}  // namespace

RunMetrics::RunMetrics()
    : start_lateness_({milliseconds{1}, milliseconds{2}, milliseconds{5}, milliseconds{10},
                       milliseconds{25}, milliseconds{50}, milliseconds{100}, milliseconds{250},
                       milliseconds{500}, seconds{1}, seconds{2}, seconds{5}, seconds{10},
                       seconds{30}, minutes{1}, minutes{5}, hours{1}}),
      attempt_duration_({milliseconds{2}, milliseconds{5}, milliseconds{10}, milliseconds{25},
                         milliseconds{50}, milliseconds{100}, milliseconds{250}, milliseconds{500},
                         seconds{1}, seconds{2}, seconds{5}, seconds{10}, seconds{30}, minutes{1},
                         minutes{5}, minutes{10}, minutes{30}}),
      commit_duration_({microseconds{250}, microseconds{500}, milliseconds{1}, milliseconds{2},
                        milliseconds{5}, milliseconds{10}, milliseconds{25}, milliseconds{50},
                        milliseconds{100}, milliseconds{250}, milliseconds{500}, seconds{1},
                        seconds{2}, seconds{5}, seconds{10}}) {}

void RunMetrics::reported(const Attempt& attempt, const Outcome& outcome) {
  (outcome.succeeded ? attempts_completed_ : attempts_failed_).add();
  if (attempt.retry > 0) retries_.add();
  attempt_duration_.observe(outcome.ended - outcome.started);
  if (is_first_attempt(attempt)) {
    start_lateness_.observe(outcome.started - attempt.occurrence.scheduled_for);
  }
}

void RunMetrics::committing() {
  commit_watch_.emplace();
}

void RunMetrics::committed(const std::vector<Write>& writes,
                           const std::vector<WriteResult>& results) {
  if (commit_watch_) commit_duration_.observe(commit_watch_->elapsed());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (results[i] == WriteResult::refused) continue;
    std::visit([this](const auto& write) { count(write); }, writes[i]);
  }
}

void RunMetrics::commit_failed() {
  if (commit_watch_) commit_duration_.observe(commit_watch_->elapsed());
  commit_failures_.add();
}

// A gap behind the row of an attempt is what came due while that was being tried.
void RunMetrics::count(const AdvanceJob& advance) {
  for (const HistoryEntry& row : advance.rows) {
    if (row.gap) {
      const bool overlapping = &row != &advance.rows.front();
      (overlapping ? missed_overlapping_ : missed_not_started_)
          .add(static_cast<std::uint64_t>(row.gap->count));
    } else if (row.role == ActionRole::main && row.status == HistoryStatus::completed) {
      occurrences_completed_.add();
    } else if (row.role == ActionRole::main && !tries_again(advance.job, row)) {
      occurrences_failed_.add();
    }
  }
}

// A row of a failure may be the note that an outcome is not known yet: AddHistory brings it.
void RunMetrics::count(const PutJob& put) {
  for (const HistoryEntry& row : put.rows) {
    if (row.gap) missed_changed_.add(static_cast<std::uint64_t>(row.gap->count));
    const bool completed = row.status == HistoryStatus::completed;
    if (completed && row.role == ActionRole::main) occurrences_completed_.add();
  }
}

void RunMetrics::count(const AddHistory& added) {
  for (const HistoryEntry& row : added.rows) {
    if (row.role != ActionRole::main) continue;
    const bool completed = row.status == HistoryStatus::completed;
    (completed ? occurrences_completed_ : occurrences_failed_).add();
  }
}

Families RunMetrics::collect() const {
  const auto value = [](const Counter& counter) { return static_cast<double>(counter.value()); };
  const double missed =
      value(missed_overlapping_) + value(missed_not_started_) + value(missed_changed_);
  return {
      counter_family({"belfry_occurrences_total",
                      "Occurrences that are done with: completed, failed (their retries are used "
                      "up) or missed (never tried; the history has the reason)."},
                     "outcome",
                     {{"completed", value(occurrences_completed_)},
                      {"failed", value(occurrences_failed_)},
                      {"missed", missed}}),
      counter_family({"belfry_missed_occurrences_total",
                      "Occurrences that were never tried: an earlier one was still being tried "
                      "(overlap), nobody was there to start them (not_started), or the job was "
                      "changed before (changed)."},
                     "reason",
                     {{"overlap", value(missed_overlapping_)},
                      {"not_started", value(missed_not_started_)},
                      {"changed", value(missed_changed_)}}),
      histogram_family({"belfry_start_lateness_seconds",
                        "From the planned instant of an occurrence to the start of its first "
                        "attempt, time in the queue of its target included."},
                       start_lateness_),
      counter_family(
          {"belfry_attempts_total", "Attempts of actions and error actions that have ended."},
          "result",
          {{"completed", value(attempts_completed_)}, {"failed", value(attempts_failed_)}}),
      counter_family({"belfry_retries_total", "Attempts that were not the first of their action."},
                     value(retries_)),
      histogram_family(
          {"belfry_attempt_duration_seconds", "How long an attempt took, its queue not included."},
          attempt_duration_),
      histogram_family({"belfry_commit_duration_seconds",
                        "How long the engine waited for a transaction to be on the disk."},
                       commit_duration_),
      counter_family({"belfry_commit_failures_total", "Transactions that the store failed."},
                     value(commit_failures_)),
  };
}

}  // namespace belfry
