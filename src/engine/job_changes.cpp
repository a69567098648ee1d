// SPDX-License-Identifier: MIT

#include "engine/job_changes.h"

#include <fmt/format.h>

#include "engine/planning.h"
#include "model/attempt.h"
#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

constexpr std::string_view kChanged = "the job was changed before they could be started";

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

bool runs(const Job& job, CollectionRuns collection_runs) {
  return job.state == JobState::enabled && collection_runs == CollectionRuns::yes;
}

// An attempt on the wire leaves a note; should it report, its own row takes the note's place.
HistoryEntry note_of(const Job& job, Instant now) {
  const DueAttempt& next = *job.next;
  HistoryEntry row;
  row.job = job.id;
  row.occurrence = next.occurrence;
  row.role = next.role;
  row.retry = next.retry;
  row.repeat = job.status.executions;
  row.started = *next.started;
  row.ended = now;
  row.status = HistoryStatus::failed;
  row.message = "The job was changed while this attempt was on its way; its outcome is unknown.";
  return row;
}

// Ends what is being tried, if anything. It was sent, so it counts as an execution.
void end_chain(Job& job, Instant now, std::vector<HistoryEntry>& rows) {
  if (job.next && job.next->started) {
    const bool main = job.next->role == ActionRole::main;
    if (main && job.next->retry == 0) {
      ++job.status.executions;
      if (job.next->origin == Origin::planned) ++job.ran;
    }
    if (main) job.status.last_execution = job.next->started;
    rows.push_back(note_of(job, now));
  }
  job.next.reset();
}

// What the timing has planned up to now and nobody has begun is owed no longer: one row says so.
void write_off(Job& job, Instant now, std::vector<HistoryEntry>& rows) {
  if (const auto missed = missed_until(job, now)) {
    rows.push_back(record_gap(job, *missed, now, kChanged));
  }
}

// Only a job that runs has something to do next, and owes what its timing plans.
void stop(JobChange& change, Instant now) {
  if (!change.job.next) return;
  end_chain(change.job, now, change.rows);
  write_off(change.job, now, change.rows);
}

// Something that stays when the timing changes: it was begun, or asked for.
bool stands(const std::optional<DueAttempt>& next) {
  return next && (next->open() || next->origin == Origin::extra);
}

// From now on: what passed while the job did not run is not owed, except that a job that runs
// once still runs once.
void go_on(Job& job, Instant now) {
  const bool once = !job.definition->timing.recurrence;
  const auto planned = planned_after(job, job.covered_until);
  if (once && planned && *planned <= now) define_timing(job, now);
  if (!once) job.covered_until = std::max(job.covered_until, now);
  plan_next(job, now, LastOccurrence::succeeded);
}

}  // namespace

Job created(JobId id, const JobKey& key, const JobWish& wish, Instant now) {
  Job job;
  job.id = id;
  job.key = key;
  job.definition = wish.definition;
  job.gen = 1;
  job.state = wish.enabled ? JobState::enabled : JobState::disabled;
  job.retry_interval_default = wish.retry_interval_default;
  define_timing(job, now);
  if (runs(job, wish.collection_runs)) plan_next(job, now, LastOccurrence::succeeded);
  return job;
}

JobChange replaced(const Job& job, const JobWish& wish, Instant now) {
  JobChange change{job, {}};
  stop(change, now);
  const std::int64_t last_seq = change.job.last_seq;
  change.job = created(job.id, job.key, wish, now);
  change.job.gen = job.gen + 1;
  // Numbers never return: the new definition's occurrences count on from the old one's.
  change.job.last_seq += last_seq;
  if (change.job.next) change.job.next->occurrence.seq += last_seq;
  return change;
}

Result<JobChange> patched(const Job& job, const JobWish& wish, Instant now) {
  if (is_final(job.state)) {
    return Error{
        ErrorCode::conflict,
        fmt::format("Job '{}' is {} and can no longer be changed. PUT replaces it, DELETE "
                    "removes it.",
                    job.key->name, job.state == JobState::completed ? "completed" : "faulted"),
        {}};
  }
  JobChange change{job, {}};
  Job& after = change.job;
  const bool new_timing = wish.definition->timing != job.definition->timing;
  const bool will_run = wish.enabled && wish.collection_runs == CollectionRuns::yes;
  // An error action that is taken away cannot be tried any further.
  const bool orphaned =
      job.next && job.next->role == ActionRole::error && !wish.definition->error_action;
  if (!will_run || orphaned) stop(change, now);
  if (new_timing && after.next) {
    write_off(after, now, change.rows);
    if (!stands(after.next)) after.next.reset();
  }

  after.definition = wish.definition;
  after.gen = job.gen + 1;
  after.retry_interval_default = wish.retry_interval_default;
  after.state = wish.enabled ? JobState::enabled : JobState::disabled;
  if (new_timing) define_timing(after, now);
  if (!will_run || after.next) return change;
  if (job.state == JobState::disabled) {
    go_on(after, now);
  } else {
    plan_next(after, now, orphaned ? LastOccurrence::failed : LastOccurrence::succeeded);
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
  } else {
    after.next =
        DueAttempt{.due = now, .occurrence = {now, ++after.last_seq}, .origin = Origin::extra};
  }
  return after;
}

JobChange suspended(const Job& job, Instant now) {
  JobChange change{job, {}};
  change.job.gen = job.gen + 1;
  stop(change, now);
  return change;
}

Job resumed(const Job& job, Instant now) {
  Job after = job;
  after.gen = job.gen + 1;
  if (after.state == JobState::enabled) go_on(after, now);
  return after;
}

}  // namespace belfry
