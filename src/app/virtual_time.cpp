// SPDX-License-Identifier: MIT

#include "app/virtual_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace belfry {

Result<Instant> VirtualTime::move_to(Instant to) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  if (to < now || to > now + kVirtualMoveMax || to > kLastInstant) {
    return Error{ErrorCode::invalid,
                 fmt::format("The clock stands at {} and can be moved forward, by ten years at a "
                             "time; not to {}.",
                             format_instant(now), format_instant(to)),
                 "to"};
  }
  engine_.start_starting();
  while (true) {
    const Instant next = engine_.wait_until_idle();
    if (next > to) break;
    clock_.set(std::max(next, clock_.now()));
  }
  clock_.set(to);
  static_cast<void>(engine_.wait_until_idle());
  // On the way it is done once a day. Whoever looks, looks now.
  engine_.sweep_all();
  return to;
}

}  // namespace belfry
