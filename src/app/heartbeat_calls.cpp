// SPDX-License-Identifier: MIT

#include "app/heartbeat_calls.h"

namespace belfry {

void HeartbeatCalls::look(Instant now) {
  // The clock may have been put back.
  const bool early = due_ && now < *due_ && *due_ - now <= kEvery;
  if (early || under_way_ || !options_.ready()) return;
  // So that looking a little late each time does not add up.
  const bool kept = due_ && *due_ <= now && now - *due_ < kEvery;
  due_ = (kept ? *due_ : now) + kEvery;
  under_way_ = true;
  options_.call([this, now](const std::string& fault) {
    note(fault, now);
    under_way_ = false;
  });
}

void HeartbeatCalls::note(const std::string& fault, Instant called) {
  const std::lock_guard lock(mutex_);
  if (fault.empty()) {
    if (fault_told_) options_.log(LogLevel::info, "the heartbeat arrives again", {});
    fault_told_.reset();
    return;
  }
  if (fault_told_ && *fault_told_ <= called && called - *fault_told_ < kFaultToldEvery) return;
  fault_told_ = called;
  options_.log(LogLevel::warning, "the heartbeat did not arrive", {{"reason", fault}});
}

}  // namespace belfry
