// SPDX-License-Identifier: MIT
//
// Definitions as users might write them, from chance: once and recurring, with and without
// startTime, schedule, count, endTime, retries and error action. All of them are valid.

#pragma once

#include "base/random.h"
#include "model/job.h"

namespace belfry {

// `pace` bounds how often a job may recur: about one occurrence in so many minutes.
struct JobTaste {
  int pace_minutes = 10;
  std::chrono::hours within{48};  // starts and ends lie this close to now
};

JobDefinition random_definition(Random& random, Instant now, const JobTaste& taste);

// The definition with something about it changed, as a PATCH would.
JobDefinition varied(Random& random, JobDefinition definition, Instant now, const JobTaste& taste);

// A job that calls an address, by what its test needs to say.
JobDefinition every(int interval, Frequency frequency);
JobDefinition at_once();
JobDefinition once_at(Instant start);
JobDefinition with_retries(JobDefinition definition, int count, Ticks interval);
JobDefinition without_retries(JobDefinition definition);
JobDefinition with_error_action(JobDefinition definition);

}  // namespace belfry
