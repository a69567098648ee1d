// SPDX-License-Identifier: MIT

#include "engine/job_changes.h"

#include <fmt/format.h>

#include "engine/planning.h"
#include "model/attempt.h"
#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

constexpr std::string_view kChanged = "the job was changed before they could be started";
constexpr std::string_view kReplaced = "the job was replaced";
constexpr std::string_view kNoErrorAction = "the job has an error action no longer";

bool runs_once(const Job& job) {
  return !job.definition->timing.recurrence;
}

bool runs(const Job& job, CollectionRuns collection_runs) {
  return job.state == JobState::enabled && collection_runs == CollectionRuns::yes;
}

// A job that rests has nothing next, or something suspended.
bool rests(const Job& job) {
  return !job.next || job.next->suspended;
}

// Begins the job's timing anew at `now`: past occurrences are not owed, and one that is being
// tried is not the new timing's.
void define_timing(Job& job, Instant now) {
  if (job.next) job.next->origin = Origin::extra;
  job.defined_at = now;
  job.ran = 0;
  job.owed_until = Instant{};
  const auto first = first_occurrence(job.definition->timing, now);
  job.covered_until = first ? *first - kOneTick : now;
}

// A job that recurs still rang at once when it was made, and does not do so again: without a
// startTime its calendar is counted from then.
void redefine_timing(Job& job, const Job& before, Instant now) {
  const Timing& timing = job.definition->timing;
  const bool still_recurs =
      !is_final(before.state) && before.definition->timing.recurrence && timing.recurrence;
  define_timing(job, now);
  if (!still_recurs) return;
  job.defined_at = before.defined_at;
  if (!timing.start_time) job.covered_until = std::max(now, job.defined_at);
}

// An attempt that was not made, or whose outcome nobody knows.
HistoryEntry row_of_next(const Job& job, Instant now) {
  HistoryEntry row;
  row.job = job.id;
  row.occurrence = job.next->occurrence;
  row.role = job.next->role;
  row.retry = job.next->retry;
  row.repeat = job.status.executions;
  row.started = job.next->started.value_or(now);
  row.ended = now;
  return row;
}

// An attempt on the wire leaves a note; should it report, its own row takes the note's place.
HistoryEntry note_of(const Job& job, Instant now) {
  HistoryEntry row = row_of_next(job, now);
  row.status = HistoryStatus::failed;
  row.message = "The job was changed while this attempt was on its way; its outcome is unknown.";
  return row;
}

HistoryEntry row_of_unmade(const Job& job, Instant now, std::string_view why) {
  HistoryEntry row = row_of_next(job, now);
  row.status = HistoryStatus::postponed;
  row.message = fmt::format("This attempt was not made: {}.", why);
  return row;
}

// Something that stays when the timing changes: it was begun, or asked for.
bool stands(const std::optional<DueAttempt>& next) {
  return next && (next->open() || next->origin == Origin::extra);
}

// Ends what is being tried or was asked for, if anything. What was sent counts as an execution.
void end_chain(JobChange& change, Instant now, std::string_view why) {
  Job& job = change.job;
  if (job.next && job.next->started) {
    const bool main = job.next->role == ActionRole::main;
    if (main && job.next->retry == 0) {
      ++job.status.executions;
      if (job.next->origin == Origin::planned) ++job.ran;
    }
    if (main) job.status.last_execution = job.next->started;
    change.rows.push_back(note_of(job, now));
  } else if (stands(job.next)) {
    change.rows.push_back(row_of_unmade(job, now, why));
  }
  job.next.reset();
}

// What the timing has planned up to now and nobody has begun is owed no longer: one row says so.
void write_off(JobChange& change, Instant now) {
  if (const auto missed = missed_until(change.job, now)) {
    change.rows.push_back(record_gap(change.job, *missed, now, kChanged));
  }
}

// What passes because the job is stopped: of a job that runs once nothing, it runs late.
void pass_over(JobChange& change, Instant now) {
  if (!runs_once(change.job)) return write_off(change, now);
  change.job.owed_until = std::max(change.job.owed_until, now);
}

// What is open goes on when the job is enabled.
void suspend(JobChange& change, Instant now) {
  if (rests(change.job)) return;
  pass_over(change, now);
  if (stands(change.job.next)) {
    change.job.next->suspended = true;
  } else {
    change.job.next.reset();
  }
}

// From now on: what passed while the job rested is not owed, except that a job that runs once still
// runs once.
void go_on(Job& job, Instant now, LastOccurrence last) {
  if (runs_once(job)) {
    job.owed_until = std::max(job.owed_until, now);
  } else {
    job.covered_until = std::max(job.covered_until, now);
  }
  if (job.next) {
    job.next->suspended = false;
  } else {
    plan_next(job, now, last);
  }
}

Error final_conflict(const Job& job) {
  return {ErrorCode::conflict,
          fmt::format("Job '{}' is {} and can no longer be changed. PUT replaces it, DELETE "
                      "removes it.",
                      job.key->name, job.state == JobState::completed ? "completed" : "faulted"),
          {}};
}

// What the job is to be, its timing not yet begun.
Job wished(JobId id, const JobKey& key, const JobWish& wish) {
  Job job;
  job.id = id;
  job.key = key;
  job.definition = wish.definition;
  job.gen = 1;
  job.state = wish.enabled ? JobState::enabled : JobState::disabled;
  job.retry_interval_default = wish.retry_interval_default;
  return job;
}

}  // namespace

bool has_definition(const Job& job, const JobDefinition& wanted) {
  return *job.definition == wanted;
}

Job created(JobId id, const JobKey& key, const JobWish& wish, Instant now) {
  Job job = wished(id, key, wish);
  define_timing(job, now);
  if (runs(job, wish.collection_runs)) plan_next(job, now, LastOccurrence::passed);
  return job;
}

JobChange replaced(const Job& job, const JobWish& wish, Instant now) {
  JobChange change{job, {}};
  // A job that recurs owes nothing for the time it rested.
  const bool owes = runs_once(job) || !rests(job);
  end_chain(change, now, kReplaced);
  if (owes) write_off(change, now);
  Job after = wished(job.id, job.key, wish);
  after.gen = job.gen + 1;
  // Numbers never return: the new definition's occurrences count on from the old one's.
  after.last_seq = change.job.last_seq;
  redefine_timing(after, job, now);
  if (runs(after, wish.collection_runs)) plan_next(after, now, LastOccurrence::passed);
  change.job = std::move(after);
  return change;
}

Result<JobChange> patched(const Job& job, const JobWish& wish, Instant now) {
  if (is_final(job.state)) return final_conflict(job);
  JobChange change{job, {}};
  Job& after = change.job;
  const bool rested = rests(job);
  const bool will_run = wish.enabled && wish.collection_runs == CollectionRuns::yes;
  // An error action that is taken away cannot be tried any further.
  const bool orphaned =
      job.next && job.next->role == ActionRole::error && !wish.definition->error_action;
  const auto last = orphaned ? LastOccurrence::failed : LastOccurrence::passed;
  const bool new_timing = wish.definition->timing != job.definition->timing;
  if (orphaned) end_chain(change, now, kNoErrorAction);
  if (new_timing && (!rested || runs_once(job))) write_off(change, now);
  if (orphaned && !rested) pass_over(change, now);
  if (!will_run) suspend(change, now);
  if (new_timing && !stands(after.next)) after.next.reset();

  after.definition = wish.definition;
  after.gen = job.gen + 1;
  after.retry_interval_default = wish.retry_interval_default;
  after.state = wish.enabled ? JobState::enabled : JobState::disabled;
  if (new_timing) redefine_timing(after, job, now);
  if (!will_run) {
    if (orphaned) rest(after, now, last);
  } else if (rested) {
    go_on(after, now, last);
  } else if (!after.next) {
    plan_next(after, now, last);
  }
  return change;
}

Result<Job> run_now(const Job& job, CollectionRuns collection_runs, Instant now) {
  const auto conflict = [&](std::string_view why) {
    return Error{ErrorCode::conflict,
                 fmt::format("Job '{}' cannot be run now: {}.", job.key->name, why),
                 {}};
  };
  if (is_final(job.state)) return conflict("it has ended; PUT it again first");
  if (job.state == JobState::disabled) return conflict("it is disabled");
  if (collection_runs == CollectionRuns::no) return conflict("its job collection is disabled");
  if (job.next && job.next->started) return conflict("an attempt is on its way at this moment");
  Job after = job;
  after.gen = job.gen + 1;
  if (job.next && job.next->open()) {
    after.next->due = now;
  } else if (stands(job.next)) {
    return conflict("a run that was asked for before has not begun yet");
  } else {
    after.next =
        DueAttempt{.due = now, .occurrence = {now, ++after.last_seq}, .origin = Origin::extra};
  }
  return after;
}

JobChange suspended(const Job& job, Instant now) {
  JobChange change{job, {}};
  change.job.gen = job.gen + 1;
  suspend(change, now);
  return change;
}

Job resumed(const Job& job, Instant now) {
  Job after = job;
  after.gen = job.gen + 1;
  if (after.state == JobState::enabled) go_on(after, now, LastOccurrence::passed);
  return after;
}

}  // namespace belfry
