// SPDX-License-Identifier: MIT
//
// Attempt names one try of one occurrence; Outcome says what came of it.

#pragma once

#include <string>
#include <string_view>

#include "base/instant.h"
#include "model/job.h"

namespace belfry {

struct Attempt {
  JobId job{};
  Occurrence occurrence;
  ActionRole role = ActionRole::main;
  int retry = 0;

  bool operator==(const Attempt&) const = default;
};

// What a job does in that role; it must have one.
const Action& action_of(const Job& job, ActionRole role);

// The attempt that the job's `next` describes; there must be one.
Attempt attempt_of(const Job& job);

// Does the job wait for the outcome of exactly this attempt?
bool awaits(const Job& job, const Attempt& attempt);

struct Outcome {
  bool succeeded = false;
  std::string message;  // in the live service's words
  Instant started;
  Instant ended;
};

// The same for every attempt of an occurrence, also after a crash; never for two of them.
// Thirty-two hexadecimal digits.
std::string occurrence_tag(JobId job, std::int64_t seq);

// The same for all attempts of the main action of an occurrence, another for its error action.
std::string idempotency_key(const Attempt& attempt);

}  // namespace belfry
