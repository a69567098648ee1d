// SPDX-License-Identifier: MIT

#include "metrics/job_census.h"

namespace belfry {

std::optional<JobCounts> JobCensus::counts() {
  const std::lock_guard lock(mutex_);
  if (!since_ || since_->elapsed() >= every_) {
    const auto counted = store_.count_jobs_by_state();
    counts_ = counted ? std::optional(*counted) : std::nullopt;
    since_.emplace();
  }
  return counts_;
}

}  // namespace belfry
