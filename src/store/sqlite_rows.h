// SPDX-License-Identifier: MIT
//
// Rows of the SQLite store <-> the nouns of model/. A function that reads a row takes its
// columns in the order of the list above it, which its query must select.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/collection.h"
#include "model/history.h"
#include "model/job.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// subscription, resource_group, name, location, tags, sku, state, max_job_count, max_frequency,
// max_interval, gen
JobCollection read_collection(Rows& rows);

// The collection's subscription, resource_group and name; id, name, definition and secrets of
// the job; its progress from gen to defined_at. What does not parse or open fails the rows.
Job read_job(Rows& rows, const Sealer& sealer);

// job, seq, role, retry, status, scheduled_for, repeat, started, ended, gap_last, gap_count,
// message
HistoryEntry read_history(Rows& rows);

std::string tags_text(const std::vector<std::pair<std::string, std::string>>& tags);

template <typename Whole, typename Part>
std::optional<Part> part(const std::optional<Whole>& whole, Part Whole::*member) {
  if (!whole) return std::nullopt;
  return (*whole).*member;
}

// The columns of progress after `job`, from gen to defined_at.
inline auto progress_values(const Job& job) {
  const auto occurrence = part(job.next, &DueAttempt::occurrence);
  return std::make_tuple(job.gen, job.state, part(job.next, &DueAttempt::due),
                         part(occurrence, &Occurrence::scheduled_for),
                         part(occurrence, &Occurrence::seq), part(job.next, &DueAttempt::origin),
                         part(job.next, &DueAttempt::role), part(job.next, &DueAttempt::retry),
                         job.next ? job.next->started : std::nullopt, job.last_seq, job.ran,
                         job.status.last_execution, job.status.executions, job.status.failures,
                         job.status.faults, job.covered_until, job.owed_until,
                         job.retry_interval_default, job.ended, job.defined_at);
}

// The columns that read_history() names.
inline auto history_values(const HistoryEntry& row) {
  return std::make_tuple(row.job, row.occurrence.seq, row.role, row.retry, row.status,
                         row.occurrence.scheduled_for, row.repeat, row.started, row.ended,
                         part(row.gap, &Gap::last), part(row.gap, &Gap::count),
                         std::string_view(row.message));
}

}  // namespace belfry
