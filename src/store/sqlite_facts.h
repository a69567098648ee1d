// SPDX-License-Identifier: MIT
//
// What SqliteStore tells of itself (store_facts.h): the questions to the database.

#pragma once

#include <optional>

#include "store/sqlite.h"
#include "store/store_facts.h"

namespace belfry {

JobCounts count_jobs_by_state(Connection& db);
std::optional<Instant> earliest_due(Connection& db);
std::vector<LastSuccess> last_successes(Connection& db);
std::int64_t count_counted_jobs(Connection& db, const JobKey& besides);

}  // namespace belfry
