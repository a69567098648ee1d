// SPDX-License-Identifier: MIT
//
// The table `unopened` names the jobs that may have a client certificate as it came in, a file that
// was never opened: an older server wrote them. Whoever opens them strikes them off.

#pragma once

#include <cstddef>
#include <vector>

#include "model/job.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace belfry {

std::vector<JobName> unopened_jobs(Connection& db, JobId after, std::size_t limit);
void strike_unopened(Connection& db, JobId job);

}  // namespace belfry
