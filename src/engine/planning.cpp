// SPDX-License-Identifier: MIT

#include "engine/planning.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

// The latest planned instant that is not after `until`, given that `first` is one. What
// follows an instant comes later the later the instant is, so halving finds the last one.
Instant latest_until(const Job& job, Instant first, Instant until) {
  Instant low = first - kOneTick;  // what follows it is not after `until`
  Instant high = until;            // what follows it is
  while (high - low > kOneTick) {
    const Instant middle = low + (high - low) / 2;
    const auto next = planned_after(job, middle);
    (next && *next <= until ? low : high) = middle;
  }
  return *planned_after(job, low);
}

void end(Job& job, Instant now, LastOccurrence last) {
  job.state = last == LastOccurrence::failed ? JobState::faulted : JobState::completed;
  job.ended = now;
}

}  // namespace

std::optional<Instant> planned_after(const Job& job, Instant after) {
  const Timing& timing = job.definition->timing;
  if (!timing.start_time && after < job.defined_at && job.ran == 0) return job.defined_at;
  if (timing.recurrence) {
    return next_occurrence(*timing.recurrence, anchor_of(timing, job.defined_at), job.ran, after);
  }
  const Instant once = std::max(anchor_of(timing, job.defined_at), job.defined_at);
  if (after < once) return once;
  return std::nullopt;
}

std::optional<Missed> missed_until(const Job& job, Instant until) {
  const auto first = planned_after(job, job.covered_until);
  if (!first || *first > until) return std::nullopt;
  Missed missed{*first, *first, 1};
  while (missed.count < kGapCountMax) {
    const auto next = planned_after(job, missed.last);
    if (!next || *next > until) return missed;
    missed.last = *next;
    ++missed.count;
  }
  missed.last = latest_until(job, missed.last, until);
  return missed;
}

HistoryEntry record_gap(Job& job, const Missed& missed, Instant now, std::string_view reason) {
  ASSERT(missed.count > 0 && missed.first <= missed.last);
  HistoryEntry row;
  row.job = job.id;
  row.occurrence = {missed.first, ++job.last_seq};
  row.repeat = job.status.executions;
  row.started = row.ended = now;
  row.status = HistoryStatus::postponed;
  row.gap = Gap{missed.last, missed.count};
  const bool bounded = missed.count >= kGapCountMax;
  row.message =
      missed.count == 1
          ? fmt::format("The occurrence planned for {} was passed over: {}.",
                        format_instant(missed.first), reason)
          : fmt::format("{}{} occurrences planned from {} to {} were passed over: {}.",
                        bounded ? "At least " : "", missed.count, format_instant(missed.first),
                        format_instant(missed.last), reason);
  job.covered_until = std::max(job.covered_until, missed.last);
  return row;
}

void plan_next(Job& job, Instant now, LastOccurrence last) {
  ASSERT(job.state == JobState::enabled);
  const auto next = planned_after(job, job.covered_until);
  if (next) {
    job.next = DueAttempt{.due = *next, .occurrence = {*next, ++job.last_seq}};
    return;
  }
  job.next.reset();
  end(job, now, last);
}

void rest(Job& job, Instant now, LastOccurrence last) {
  job.next.reset();
  const bool once = !job.definition->timing.recurrence;
  const Instant after = once ? job.covered_until : std::max(job.covered_until, now);
  if (!planned_after(job, after)) end(job, now, last);
}

}  // namespace belfry
