// SPDX-License-Identifier: MIT
//
// What a timing that was defined at some moment plans, by the naive calendar alone: the
// checker's own idea of when a job is to run. It leaves recurrence.count to its user, who
// counts what was really sent.

#pragma once

#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/recurrence.h"

namespace belfry {

class PlannedInstants {
 public:
  PlannedInstants() = default;
  PlannedInstants(const Timing& timing, Instant defined_at);
  // Of a job that recurred before: it does not run at once again, and without a startTime its
  // calendar is counted from when it was made.
  static PlannedInstants redefined(const Timing& timing, Instant made_at, Instant now);

  // Nothing that lies more than kSearched after `after` is found.
  std::optional<Instant> first_after(Instant after);

  bool once() const { return !recurrence_; }

  static constexpr std::chrono::days kSearched{400};

 private:
  const std::vector<Instant>& on(std::chrono::sys_days day);

  std::optional<Recurrence> recurrence_;
  Instant anchor_;
  Instant from_;                   // planned instants lie after it
  std::optional<Instant> single_;  // runs besides the recurrence: at once, or once
  std::chrono::sys_days listed_day_{};
  std::optional<std::vector<Instant>> listed_;
};

}  // namespace belfry
