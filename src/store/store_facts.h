// SPDX-License-Identifier: MIT
//
// StoreFacts is what a store can tell of itself to those who watch it. Any thread may ask. None
// of it is part of running jobs, and so it is not part of Store.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "model/job.h"

namespace belfry {

struct JobCounts {
  std::int64_t enabled = 0;
  std::int64_t disabled = 0;
  std::int64_t completed = 0;
  std::int64_t faulted = 0;

  bool operator==(const JobCounts&) const = default;
};

struct StoreBytes {
  std::uint64_t database = 0;
  std::uint64_t log = 0;  // written, and not yet copied into the database
};

// Of a job that asked for it (properties.metrics).
struct LastSuccess {
  JobKey key;
  Instant defined;  // since when it could have succeeded
  std::optional<Instant> at;
};

class StoreFacts {
 public:
  virtual ~StoreFacts() = default;

  // It takes the longer the more jobs are not enabled.
  virtual Result<JobCounts> count_jobs_by_state() = 0;

  // When the job that waits for its turn longest is, or was, due; none where none waits. A start
  // that was put off for want of room has been due since it was planned.
  virtual Result<std::optional<Instant>> earliest_due() = 0;

  // At most kCountedJobsMax, in the order in which the jobs were made.
  virtual Result<std::vector<LastSuccess>> last_successes() = 0;

  // How many jobs besides this one ask for it.
  virtual Result<std::int64_t> count_counted_jobs(const JobKey& besides) = 0;

  virtual StoreBytes bytes() const = 0;
};

}  // namespace belfry
