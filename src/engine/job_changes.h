// SPDX-License-Identifier: MIT
//
// What API writes make of a job: pure functions from a job and a wish to the job as it is to
// be stored, gen raised. The rules are docs/job-lifecycle.md's: PUT replaces and ends what is
// being tried; PATCH keeps it; disabling suspends it; nothing new is owed for the time disabled.

#pragma once

#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "model/history.h"
#include "model/job.h"

namespace belfry {

// Does the collection let its jobs run?
enum class CollectionRuns { yes, no };

// `rows` tell of what was planned or being tried and is not any more.
struct JobChange {
  Job job;
  std::vector<HistoryEntry> rows;
};

struct JobWish {
  Shared<JobDefinition> definition;
  bool enabled = true;
  Ticks retry_interval_default = kRetryIntervalDefault;
  CollectionRuns collection_runs = CollectionRuns::yes;
};

// Is the definition the one that the job has, secrets included? Then a PUT of it asks for a state
// and nothing else.
bool has_definition(const Job& job, const JobDefinition& wanted);

Job created(JobId id, const JobKey& key, const JobWish& wish, Instant now);
JobChange replaced(const Job& job, const JobWish& wish, Instant now);

// A conflict when the job is completed or faulted.
Result<JobChange> patched(const Job& job, const JobWish& wish, Instant now);

// An extra occurrence now, or the waiting retry now; a conflict when something is on the wire, an
// earlier run has not begun, or the job does not run.
Result<Job> run_now(const Job& job, CollectionRuns collection_runs, Instant now);

// The collection was disabled or enabled again.
JobChange suspended(const Job& job, Instant now);
Job resumed(const Job& job, Instant now);

}  // namespace belfry
