// SPDX-License-Identifier: MIT
//
// Jobs whose definition cannot be used are left out where many are read, so that the others go on.
// That must not go unnoticed: the log names each of them once, and says what `belfry check` says.

#pragma once

#include <cstddef>
#include <mutex>
#include <set>

#include "base/result.h"
#include "model/job.h"

namespace belfry {

inline constexpr std::size_t kUnreadableNotedMax = 1000;

class UnreadableJobs {
 public:
  // Any thread.
  void note(const Job& job, const Error& error);

 private:
  std::mutex mutex_;
  std::set<JobId> noted_;
};

}  // namespace belfry
