// SPDX-License-Identifier: MIT
//
// What can be seen of a run from outside the engine, event by event: which writes took effect,
// what the store holds after a step, what the dispatcher was given and what it answered, which
// rows the history got. The checker (checker.h) knows nothing but this record, so a record that
// was doctored tests the checker.
//
// The events of a step come in the order in which a step works: answers that wait for it, rows
// of attempts, writes, other rows, the stored jobs, sends.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "model/attempt.h"
#include "model/history.h"
#include "model/job.h"

namespace belfry {

enum class WriteKind {
  put,
  patch,
  run,
  suspend,  // the collection no longer runs its jobs
  resume,
  touch,  // the collection changed otherwise
};

// A write that took effect, answered or not.
struct Wrote {
  WriteKind kind = WriteKind::put;
  std::shared_ptr<const JobDefinition> definition;  // shared: events are copied often
  bool enabled = true;
  bool collection_runs = true;
  Ticks retry_interval_default = kRetryIntervalDefault;
};

// The start of an attempt that its target refused was taken back.
struct Unstarted {};

// The job as it is stored after the step, without its definition.
struct Saw {
  std::int64_t gen = 0;
  JobState state = JobState::enabled;
  JobStatus status;
  std::int64_t last_seq = 0;
  std::optional<Instant> ended;
  std::optional<DueAttempt> next;
};

struct Sent {
  DueAttempt attempt;
  Instant leaves;        // when it goes out
  bool durable = true;   // was the start stored at this moment?
  bool accepted = true;  // false: the target's queue was full
};

// Left in the engine's inbox for this step.
struct Answered {
  Attempt attempt;
  Outcome outcome;
};

enum class RowKind { attempt, superseded, note, overlap_gap, absence_gap, change_gap, unmade };

struct Recorded {
  RowKind kind = RowKind::attempt;
  HistoryEntry row;
};

struct Removed {
  bool swept = false;  // else deleted by a write
};

// These two concern every job.
struct Crashed {};
struct ClockSet {};

struct Event {
  std::int64_t step = 0;
  Instant now;  // as the engine was told
  JobId job{};
  std::variant<Wrote, Unstarted, Saw, Sent, Answered, Recorded, Removed, Crashed, ClockSet> what;
};

using Record = std::vector<Event>;

// Which rule a row follows, by what its message says.
RowKind kind_of(const HistoryEntry& row);

// One line, for whoever has to understand a failure.
std::string text_of(const Event& event);

}  // namespace belfry
