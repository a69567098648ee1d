// SPDX-License-Identifier: MIT

#include "store/sqlite_facts.h"

#include <filesystem>

#include "model/job.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_store.h"

namespace belfry {
namespace {

// Collections know how many jobs they have, and the index has those that are not enabled: the
// table of jobs is not looked at, and an advance of an enabled job does not touch the index. One
// statement, so that both are of the same moment.
constexpr char kCountJobs[] = R"(
SELECT 0, coalesce(sum(jobs), 0) FROM collection
UNION ALL
SELECT state, count(*) FROM progress INDEXED BY progress_at_rest WHERE state <> 0 GROUP BY state)";
static_assert(static_cast<int>(JobState::enabled) == 0);

constexpr char kEarliestDue[] = R"(
SELECT due FROM progress INDEXED BY progress_due
WHERE due IS NOT NULL AND NOT EXISTS (SELECT 1 FROM started WHERE started.job = progress.job)
ORDER BY due LIMIT 1)";

// What a target had no room for is to be tried again later, but has been due since it was planned.
// The condition is that of the index.
constexpr char kEarliestPutOff[] = R"(
SELECT scheduled_for FROM progress INDEXED BY progress_put_off
WHERE due > scheduled_for AND role = 0 AND retry = 0
  AND NOT EXISTS (SELECT 1 FROM started WHERE started.job = progress.job)
ORDER BY scheduled_for LIMIT 1)";
static_assert(static_cast<int>(ActionRole::main) == 0);

constexpr char kLastSuccesses[] = R"(
SELECT c.subscription, c.resource_group, c.name, j.name, p.defined_at, k.last_success
FROM counted AS k CROSS JOIN job AS j ON j.id = k.job
                  CROSS JOIN progress AS p ON p.job = j.id
                  CROSS JOIN collection AS c ON c.id = j.collection
ORDER BY k.job LIMIT ?1)";
constexpr char kCountCounted[] = R"(
SELECT count(*) FROM counted AS k
WHERE k.job NOT IN (SELECT j.id FROM collection AS c CROSS JOIN job AS j ON j.collection = c.id
                    WHERE c.folded = ?1 AND j.folded = ?2))";

std::int64_t& count_of(JobCounts& counts, JobState state) {
  switch (state) {
    case JobState::disabled:
      return counts.disabled;
    case JobState::completed:
      return counts.completed;
    case JobState::faulted:
      return counts.faulted;
    case JobState::enabled:
      break;
  }
  return counts.enabled;
}

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

JobCounts count_jobs_by_state(Connection& db) {
  JobCounts counts;
  for (Rows rows = db.query(kCountJobs); rows.next();) {
    const auto state = rows.choice(JobState::faulted);
    count_of(counts, state) = rows.integer();
  }
  counts.enabled -= counts.disabled + counts.completed + counts.faulted;
  return counts;
}

std::optional<Instant> earliest_due(Connection& db) {
  auto earliest = db.value(kEarliestDue);
  const auto put_off = db.value(kEarliestPutOff);
  if (put_off && (!earliest || *put_off < *earliest)) earliest = put_off;
  if (!earliest) return std::nullopt;
  return Instant{Ticks{*earliest}};
}

std::vector<LastSuccess> last_successes(Connection& db) {
  std::vector<LastSuccess> out;
  for (Rows rows = db.query(kLastSuccesses, bounded(kCountedJobsMax)); rows.next();) {
    JobKey key{.collection = read_collection_key(rows), .name = {}};
    key.name = rows.text();
    const Instant defined = rows.instant();
    out.push_back({std::move(key), defined, rows.maybe_instant()});
  }
  return out;
}

std::int64_t count_counted_jobs(Connection& db, const JobKey& besides) {
  return db.value(kCountCounted, folded(besides.collection), folded(besides.name)).value_or(0);
}

StoreBytes SqliteStore::bytes() const {
  std::filesystem::path log = database_;
  log += "-wal";
  return {.database = size_of(database_), .log = size_of(log)};
}

}  // namespace belfry
