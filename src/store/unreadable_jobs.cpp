// SPDX-License-Identifier: MIT

#include "store/unreadable_jobs.h"

#include "base/log.h"

namespace belfry {

void UnreadableJobs::note(const Job& job, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (noted_.size() >= kUnreadableNotedMax || !noted_.insert(job.id).second) return;
  }
  log(LogLevel::error, "A job is not started: its definition cannot be used",
      {{"job", folded(job.key)}, {"reason", error.message}});
}

}  // namespace belfry
