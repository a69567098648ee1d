// SPDX-License-Identifier: MIT
//
// Rows of the SQLite store <-> the nouns of model/. A function that reads a row takes the
// columns that the text above it selects, from `collection AS c`, `job AS j`, `progress AS p`,
// `started AS s` and `history AS h`.

#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/collection.h"
#include "model/history.h"
#include "model/job.h"
#include "store/row_macs.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

inline constexpr char kSelectCollection[] = R"(
SELECT c.subscription, c.resource_group, c.name, c.location, c.tags, c.sku, c.state,
       c.max_job_count, c.max_frequency, c.max_interval, c.gen, c.mac
)";
CollectionKey read_collection_key(Rows& rows);
// As it stands there; the second fails the rows of one that was not written by Belfry.
struct StoredCollection {
  JobCollection collection;
  std::optional<std::string> mac;
};
StoredCollection read_stored_collection(Rows& rows);
JobCollection read_collection(Rows& rows, const Sealer& sealer);

// What of it stands in `started`, and whether it is suspended, is named by the caller; for a
// database of before there were MACs, and secrets of their own for error actions, that they are
// NULL.
inline std::string select_job(const std::string& started, const std::string& covered_until,
                              const std::string& suspended,
                              const std::string& since_macs = "j.error_secrets, j.mac") {
  return R"(
SELECT c.subscription, c.resource_group, c.name, j.id, j.name,
       j.definition, j.secrets, )" +
         since_macs + R"(,
       p.gen, p.state, p.due, p.scheduled_for, p.seq, p.origin, p.role, p.retry, )" +
         started + ", " + suspended + R"(,
       p.last_seq, p.ran, p.last_execution, p.executions, p.failures, p.faults, )" +
         covered_until + R"(,
       p.owed_until, p.retry_interval, p.ended, p.defined_at
)";
}
// One that may be started or suspended, and one that is neither: then there is no need for a row of
// `started`.
inline const std::string kSelectJob =
    select_job("s.at", "coalesce(s.covered_until, p.covered_until)", "p.suspended");
inline const std::string kSelectWaitingJob = select_job("NULL", "p.covered_until", "NULL");
// A definition that was not written by Belfry or does not parse, and secrets that do not open, are
// an error of this job alone: all else of it is read.
struct ReadJob {
  Job job;
  Status definition = Done{};
};
ReadJob read_job(Rows& rows, const Sealer& sealer);
StoredDefinition read_definition(Rows& rows);  // until the next row

inline constexpr char kSelectHistory[] = R"(
SELECT h.seq, h.role, h.retry, h.status, h.scheduled_for, h.repeat, h.started, h.ended, h.message,
       h.gap_last, h.gap_count
)";
HistoryEntry read_history(Rows& rows, JobId job);

std::string tags_text(const std::vector<std::pair<std::string, std::string>>& tags);

// As a LIMIT or an OFFSET has it.
inline std::int64_t bounded(std::size_t count) {
  return static_cast<std::int64_t>(
      std::min(count, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())));
}

template <typename Whole, typename Part>
std::optional<Part> part(const std::optional<Whole>& whole, Part Whole::*member) {
  if (!whole) return std::nullopt;
  return (*whole).*member;
}

inline bool is_suspended(const Job& job) {
  return job.next && job.next->suspended;
}

// The columns of progress that change while a job runs, `due` to `owed_until`.
inline auto running_values(const Job& job) {
  const auto occurrence = part(job.next, &DueAttempt::occurrence);
  return std::make_tuple(is_suspended(job) ? std::nullopt : part(job.next, &DueAttempt::due),
                         part(occurrence, &Occurrence::scheduled_for),
                         part(occurrence, &Occurrence::seq), part(job.next, &DueAttempt::origin),
                         part(job.next, &DueAttempt::role), part(job.next, &DueAttempt::retry),
                         job.last_seq, job.ran, job.status.last_execution, job.status.executions,
                         job.status.failures, job.status.faults, job.covered_until, job.owed_until);
}

// The columns of progress after `job`, in their order in the table.
inline auto progress_values(const Job& job) {
  const auto suspended = is_suspended(job) ? part(job.next, &DueAttempt::due) : std::nullopt;
  return std::tuple_cat(
      std::make_tuple(job.gen, job.state), running_values(job),
      std::make_tuple(job.retry_interval_default, job.ended, job.defined_at, suspended));
}

// The columns of history after `id`, in their order in the table.
inline auto history_values(const HistoryEntry& row) {
  return std::make_tuple(row.job, row.occurrence.seq, row.role, row.retry, row.status,
                         row.occurrence.scheduled_for, row.repeat, row.started, row.ended,
                         part(row.gap, &Gap::last), part(row.gap, &Gap::count),
                         std::string_view(row.message));
}

}  // namespace belfry
