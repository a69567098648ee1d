// SPDX-License-Identifier: MIT
//
// Job is what a user asked for (its definition) and how far it has come. A job does at most
// one thing next, and `next` says what and when: wait for an occurrence, try again, or learn
// what came of an attempt that was started. A job that rests, because it or its collection is
// disabled, has there what was open when it was disabled, suspended, or nothing.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/instant.h"
#include "model/action.h"
#include "model/key.h"
#include "model/recurrence.h"
#include "model/shared.h"

namespace belfry {

// So many jobs of a store may ask for it: each is a line of every page of metrics.
inline constexpr std::size_t kCountedJobsMax = 1'000;

// Minted at creation: a job deleted and made again under its name is another job.
enum class JobId : std::int64_t {};

// Where a job stands among those that wait: by when it is due, and in one instant by its id.
struct DuePlace {
  Instant due;
  JobId job{};

  auto operator<=>(const DuePlace&) const = default;
};

struct JobDefinition {
  Timing timing;
  Action action;
  std::optional<Action> error_action;
  std::optional<bool> metrics;  // whether its last success is counted; absent: not said

  bool operator==(const JobDefinition&) const = default;
};

enum class JobState { enabled, disabled, completed, faulted };

inline bool is_final(JobState state) {
  return state == JobState::completed || state == JobState::faulted;
}

// The counters a user sees.
struct JobStatus {
  std::optional<Instant> last_execution;
  std::int64_t executions = 0;  // occurrences whose main action was sent
  std::int64_t failures = 0;    // attempts of the main action that failed
  std::int64_t faults = 0;      // occurrences that used up their retries

  bool operator==(const JobStatus&) const = default;
};

// One instant of a job. `seq` counts per job and is never reset, so that the id made of it
// never returns. `scheduled_for` is by the calendar; when we act is `due`.
struct Occurrence {
  Instant scheduled_for;
  std::int64_t seq = 0;

  bool operator==(const Occurrence&) const = default;
};

enum class ActionRole { main, error };

// Planned occurrences come from the calendar and count towards recurrence.count; extra ones
// were asked for with `run`.
enum class Origin { planned, extra };

struct DueAttempt {
  Instant due;
  Occurrence occurrence;
  Origin origin = Origin::planned;
  ActionRole role = ActionRole::main;
  int retry = 0;
  std::optional<Instant> started = std::nullopt;  // set, durably, before it is sent
  bool suspended = false;  // goes on when the job and its collection are enabled

  // Something of this occurrence has been tried, or may have been.
  bool open() const { return started || retry > 0 || role == ActionRole::error; }
  // It is begun when it is due.
  bool waits() const { return !started && !suspended; }
  bool operator==(const DueAttempt&) const = default;
};

struct Job {
  JobId id{};
  // Both are big, and the same for as long as nobody writes the job.
  Shared<JobKey> key;
  Shared<JobDefinition> definition;
  std::int64_t gen = 0;  // raised by API writes alone

  JobState state = JobState::enabled;
  JobStatus status;
  Ticks retry_interval_default = kRetryIntervalDefault;  // the collection's plan decides
  Instant defined_at;                                    // stands for startTime where there is none
  std::int64_t last_seq = 0;                             // the highest seq given out
  std::int64_t ran = 0;          // occurrences that count towards recurrence.count
  Instant covered_until;         // planned instants up to here are recorded, or not owed
  Instant owed_until;            // planned instants up to here are fired however late
  std::optional<Instant> ended;  // when it became completed or faulted
  std::optional<DueAttempt> next;
};

// What became of a job: anything, or that it was begun as planned, and nothing but next.started and
// covered_until is new.
enum class Advance { any, begun };

}  // namespace belfry
