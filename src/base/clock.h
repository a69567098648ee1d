// SPDX-License-Identifier: MIT
//
// Clock tells the time. It is the only way to learn it: whoever is given an Instant instead
// can be tested in virtual time (docs/invariants.md, 7).

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/instant.h"

namespace belfry {

// For those who watch a server.
struct ClockFacts {
  bool trusted = true;
  Ticks offset{};                    // how far the wall clock is ahead of what the Clock tells
  std::uint64_t jumps = 0;           // times the wall clock was set by more than a second
  std::optional<bool> synchronised;  // none: the kernel does not say
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;

  // False while the wall clock has just jumped and it is not known yet whether it means it.
  // Nothing is to be started then.
  virtual bool trusted() const { return true; }

  virtual ClockFacts facts() const { return {}; }
};

// Time goes on with the machine's uptime, and follows the wall clock at an offset from it. A
// small change of the offset is believed at once. A large one must stand for a while: somebody
// may be setting the clock and about to set it back.
class OffsetKeeper {
 public:
  static constexpr Ticks kSmallChange = std::chrono::minutes{1};
  static constexpr Ticks kMustStand = std::chrono::seconds{5};
  static constexpr Ticks kJump = std::chrono::seconds{1};  // a change that is worth counting

  // `uptime` and what the wall clock shows at that moment.
  Instant tell(Ticks uptime, Instant wall);
  bool trusted() const { return !doubted_.has_value(); }
  // How far the wall clock was ahead when it was last looked at: nothing, unless it is doubted.
  Ticks ahead() const { return doubted_ ? doubted_->offset - *offset_ : Ticks{0}; }
  std::uint64_t jumps() const { return jumps_; }

 private:
  struct Doubted {
    Ticks offset;
    Ticks since;  // uptime
  };
  std::optional<Ticks> offset_;
  std::optional<Doubted> doubted_;
  std::uint64_t jumps_ = 0;
};

// The machine's clock. Uptime counts on while the machine sleeps.
class WallClock final : public Clock {
 public:
  Instant now() const override;
  bool trusted() const override;
  ClockFacts facts() const override;

 private:
  mutable std::mutex mutex_;
  mutable OffsetKeeper keeper_;
};

// A clock that stands still until somebody moves it. Any thread may look at it and move it.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant now) : ticks_(now.time_since_epoch().count()) {}

  Instant now() const override { return Instant{Ticks{ticks_.load()}}; }
  void set(Instant now) { ticks_ = now.time_since_epoch().count(); }

 private:
  std::atomic<std::int64_t> ticks_;
};

}  // namespace belfry
