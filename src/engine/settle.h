// SPDX-License-Identifier: MIT
//
// settle() decides what an outcome leads to: a retry, the error action, the next occurrence,
// or the end of the job; begin() decides what an occurrence that is due begins with. All
// policy of running jobs is in these two functions; they read no clock and touch no store,
// so that a table of cases can test them whole (docs/job-lifecycle.md).
//
// Holds: the settlement's first row describes exactly the attempt that was given, and settling
// the same attempt of the same job again yields an equal settlement (docs/invariants.md, 4).

#pragma once

#include <vector>

#include "base/instant.h"
#include "model/attempt.h"
#include "model/history.h"
#include "model/job.h"

namespace belfry {

struct Settlement {
  Job job;                         // as it is to be stored
  std::vector<HistoryEntry> rows;  // this attempt, and perhaps the gap it made others miss
  Advance what = Advance::any;     // what of the job is new
};

// `now` is when the outcome was learnt; retries are counted from it: a target that answers
// slowly must not be hit twice at once. The job must await exactly this attempt.
Settlement settle(const Job& job, const Attempt& attempt, const Outcome& outcome, Instant now);

// What to do with occurrences that were missed because nobody was there to start them.
enum class CatchUp {
  latest,  // fire the latest of them, record the others as one gap
  all,     // fire each of them, one after the other
  none,    // record all of them as one gap
};

// Begins what is due: the job's `next` becomes started, at an occurrence that the catch-up
// policy chose. With CatchUp::none a late job has nothing to start: it waits for its next
// occurrence then, or has ended.
Settlement begin(Job job, Instant now, CatchUp catch_up);

// Undoes begin() for a job whose target's queue was full: it is due again at `due`, and what
// it was scheduled for stays.
Job unstarted(const Job& job, Instant due);

// When a start that its target's full queue refused is tried again: after a quarter of its
// lateness, within bounds. The later it is the longer it waits, so that the jobs of a target that
// hangs, however many, do not keep the engine busy with starts that are taken back.
struct RefusalBackoff {
  Ticks least;
  Ticks most;
};
Instant due_after_refusal(const Job& job, Instant now, const RefusalBackoff& backoff);

// An occurrence this much late is still on time: steps and commits take a moment.
inline constexpr Ticks kOnTime = std::chrono::seconds{30};

// The row of an attempt that leads to nothing any more, since the job was replaced, disabled
// or deleted while it was on the wire; `job` is as it was before.
HistoryEntry superseded_row(const Job& job, const Attempt& attempt, const Outcome& outcome);

}  // namespace belfry
