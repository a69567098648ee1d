// SPDX-License-Identifier: MIT

#include "engine/settle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "engine/planning.h"

namespace belfry {
namespace {

constexpr std::string_view kOverlapped = "an earlier occurrence was still being tried";
constexpr std::string_view kNobodyThere = "Belfry was not running or could not start them";
constexpr std::string_view kSuperseded =
    " (The job was changed meanwhile: this leads to nothing further.)";

// An error action without a policy of its own has the main action's.
const std::optional<RetryPolicy>& policy_of(const Job& job, ActionRole role) {
  const auto& own = action_of(job, role).retry_policy;
  return own ? own : job.definition->action.retry_policy;
}

int retries_allowed(const Job& job, ActionRole role) {
  const auto& policy = policy_of(job, role);
  if (!policy) return kRetryCountDefault;
  if (policy->type == RetryType::none) return 0;
  return policy->count.value_or(kRetryCountDefault);
}

Ticks retry_interval(const Job& job, ActionRole role) {
  const auto& policy = policy_of(job, role);
  return policy && policy->interval ? *policy->interval : job.retry_interval_default;
}

HistoryEntry row_of(const Job& job, const Attempt& attempt, const Outcome& outcome) {
  HistoryEntry row;
  row.job = job.id;
  row.occurrence = attempt.occurrence;
  row.role = attempt.role;
  row.retry = attempt.retry;
  row.repeat = job.status.executions;
  row.started = outcome.started;
  row.ended = outcome.ended;
  row.status = outcome.succeeded ? HistoryStatus::completed : HistoryStatus::failed;
  row.message = outcome.message.substr(0, kHistoryMessageBytesMax);
  return row;
}

bool is_first_attempt(const Attempt& attempt) {
  return attempt.role == ActionRole::main && attempt.retry == 0;
}

// An occurrence counts once, when its first attempt reports.
void count_attempt(Job& job, const Attempt& attempt, const Outcome& outcome) {
  if (attempt.role != ActionRole::main) return;
  if (is_first_attempt(attempt)) {
    ++job.status.executions;
    if (job.next->origin == Origin::planned) ++job.ran;
  }
  job.status.last_execution = outcome.started;
  if (!outcome.succeeded) ++job.status.failures;
}

void try_again(Job& job, const Attempt& attempt, Instant now) {
  job.next->due = now + retry_interval(job, attempt.role);
  job.next->retry = attempt.retry + 1;
  job.next->started.reset();
}

void start_error_action(Job& job, Instant now) {
  job.next->due = now;
  job.next->role = ActionRole::error;
  job.next->retry = 0;
  job.next->started.reset();
}

// What passed while the occurrence was tried. A run that was asked for does not take the place of
// the last planned one: that is owed, and runs now.
std::optional<Missed> overlapped(Job& job, Instant now) {
  const auto missed = missed_until(job, now - kOneTick);
  const bool extra = job.next->origin == Origin::extra;
  if (!missed || !extra || planned_after(job, missed->last)) return missed;
  job.owed_until = missed->last;
  return missed_until(job, missed->last - kOneTick);
}

// The occurrence is done with. What passed meanwhile is recorded, the next future one planned.
void finish_occurrence(Settlement& settlement, Instant now, LastOccurrence last) {
  Job& job = settlement.job;
  if (job.next->suspended) return rest(job, now, last);
  const auto next = planned_after(job, job.covered_until);
  const bool owed = next && *next <= job.owed_until;
  if (!owed) {
    if (const auto missed = overlapped(job, now)) {
      settlement.rows.push_back(record_gap(job, *missed, now, kOverlapped));
    }
  }
  plan_next(job, now, last);
}

// The planned occurrence may have been due long ago, and others after it.
void catch_up_to(Settlement& settlement, Instant now, CatchUp catch_up) {
  Job& job = settlement.job;
  if (now - job.next->occurrence.scheduled_for <= kOnTime) return;
  if (catch_up == CatchUp::all) {
    job.owed_until = std::max(job.owed_until, now);
    return;
  }
  if (job.next->occurrence.scheduled_for <= job.owed_until) return;
  const auto missed = missed_until(job, now);
  ASSERT(missed && missed->first == job.next->occurrence.scheduled_for);
  if (catch_up == CatchUp::none) {
    settlement.rows.push_back(record_gap(job, *missed, now, kNobodyThere));
    plan_next(job, now, LastOccurrence::passed);
  } else if (missed->count > 1) {
    const auto others = missed_until(job, missed->last - kOneTick);
    settlement.rows.push_back(record_gap(job, *others, now, kNobodyThere));
    // A number after the gap's: history is ordered by it.
    job.next->occurrence = {missed->last, ++job.last_seq};
  }
}

}  // namespace

Settlement settle(const Job& job, const Attempt& attempt, const Outcome& outcome, Instant now) {
  ASSERT(awaits(job, attempt));
  Settlement settlement{job, {}};
  Job& after = settlement.job;
  count_attempt(after, attempt, outcome);
  settlement.rows.push_back(row_of(after, attempt, outcome));

  if (!outcome.succeeded && attempt.retry < retries_allowed(job, attempt.role)) {
    try_again(after, attempt, now);
    return settlement;
  }
  const bool main_failed = attempt.role == ActionRole::error || !outcome.succeeded;
  if (attempt.role == ActionRole::main && main_failed) {
    ++after.status.faults;
    if (job.definition->error_action) {
      start_error_action(after, now);
      return settlement;
    }
  }
  finish_occurrence(settlement, now, main_failed ? LastOccurrence::failed : LastOccurrence::passed);
  return settlement;
}

Settlement begin(Job job, Instant now, CatchUp catch_up) {
  ASSERT(job.next && job.next->waits() && job.next->due <= now);
  Settlement settlement{std::move(job), {}};
  Job& after = settlement.job;
  const Instant owed_until = after.owed_until;
  if (!after.next->open() && after.next->origin == Origin::planned) {
    catch_up_to(settlement, now, catch_up);
    if (!after.next || after.next->due > now) return settlement;
    after.covered_until = after.next->occurrence.scheduled_for;
  }
  after.next->started = now;
  const bool as_planned = settlement.rows.empty() && after.owed_until == owed_until;
  if (as_planned) settlement.what = Advance::begun;
  return settlement;
}

Job unstarted(const Job& job, Instant due) {
  ASSERT(job.next && job.next->started);
  Job after = job;
  after.next->started.reset();
  // The clock may have been put back since it was begun.
  after.next->due = std::max(due, after.next->occurrence.scheduled_for);
  if (!after.next->open() && after.next->origin == Origin::planned) {
    after.covered_until = after.next->occurrence.scheduled_for - kOneTick;
  }
  return after;
}

Instant due_after_refusal(const Job& job, Instant now, const RefusalBackoff& backoff) {
  const Ticks late = now - job.next->occurrence.scheduled_for;
  return now + std::clamp(late / 4, backoff.least, backoff.most);
}

HistoryEntry superseded_row(const Job& job, const Attempt& attempt, const Outcome& outcome) {
  ASSERT(awaits(job, attempt));
  Job counted = job;
  count_attempt(counted, attempt, outcome);
  HistoryEntry row = row_of(counted, attempt, outcome);
  row.message.resize(std::min(row.message.size(), kHistoryMessageBytesMax - kSuperseded.size()));
  row.message += kSuperseded;
  return row;
}

}  // namespace belfry
