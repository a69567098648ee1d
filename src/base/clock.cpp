// SPDX-License-Identifier: MIT

#include "base/clock.h"

#include <sys/timex.h>
#include <time.h>

namespace belfry {
namespace {

Ticks read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} +
         std::chrono::floor<Ticks>(std::chrono::nanoseconds{time.tv_nsec});
}

// Reads what the kernel was last told by whoever keeps the clock; changes nothing. Where a unit
// keeps its service from setting the clock, the kernel refuses to answer this too.
std::optional<bool> is_synchronised() {
  timex state{};
  const int answer = adjtimex(&state);
  if (answer == -1) return std::nullopt;
  return answer != TIME_ERROR;
}

Ticks distance(Ticks a, Ticks b) {
  return a < b ? b - a : a - b;
}

}  // namespace

Instant OffsetKeeper::tell(Ticks uptime, Instant wall) {
  const Ticks seen = wall.time_since_epoch() - uptime;
  if (!offset_ || distance(seen, *offset_) <= kSmallChange) {
    if (offset_ && distance(seen, *offset_) > kJump) ++jumps_;
    offset_ = seen;
    doubted_.reset();
  } else if (!doubted_ || distance(seen, doubted_->offset) > kSmallChange) {
    doubted_ = Doubted{seen, uptime};
    ++jumps_;
  } else if (uptime - doubted_->since >= kMustStand) {
    offset_ = seen;
    doubted_.reset();
  }
  return Instant{uptime + *offset_};
}

Instant WallClock::now() const {
  const std::lock_guard lock(mutex_);
  const Ticks uptime = read_clock(CLOCK_BOOTTIME);
  return keeper_.tell(uptime, Instant{read_clock(CLOCK_REALTIME)});
}

ClockFacts WallClock::facts() const {
  now();
  const std::lock_guard lock(mutex_);
  return {keeper_.trusted(), keeper_.ahead(), keeper_.jumps(), is_synchronised()};
}

bool WallClock::trusted() const {
  const std::lock_guard lock(mutex_);
  return keeper_.trusted();
}

}  // namespace belfry
