// SPDX-License-Identifier: MIT

#include "tests/simulation/planned_instants.h"

#include <algorithm>

#include "tests/oracle/naive_calendar.h"

namespace belfry {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::sys_days;

PlannedInstants::PlannedInstants(const Timing& timing, Instant defined_at)
    : recurrence_(timing.recurrence),
      anchor_(timing.start_time.value_or(defined_at)),
      from_(defined_at) {
  if (!recurrence_) {
    single_ = std::max(anchor_, defined_at);
  } else {
    recurrence_->count.reset();
    const bool ended = recurrence_->end_time && defined_at > *recurrence_->end_time;
    if (!timing.start_time && !ended) single_ = defined_at;
  }
}

PlannedInstants PlannedInstants::redefined(const Timing& timing, Instant made_at, Instant now) {
  PlannedInstants planned(timing, made_at);
  planned.single_.reset();
  planned.from_ = timing.start_time ? now : std::max(now, made_at);
  return planned;
}

const std::vector<Instant>& PlannedInstants::on(sys_days day) {
  if (!listed_ || listed_day_ != day) {
    const NaiveWindow window{
        .after = std::max<Instant>(from_, Instant{day} - kOneTick),
        .until = Instant{day + days{1}} - kOneTick,
        .limit = 24 * 60,
    };
    listed_ = naive_occurrences(*recurrence_, anchor_, 0, window);
    listed_day_ = day;
  }
  return *listed_;
}

std::optional<Instant> PlannedInstants::first_after(Instant after) {
  if (single_ && after < *single_) return single_;
  if (!recurrence_) return std::nullopt;
  const Instant last = std::min<Instant>(std::max({after, from_, anchor_}) + kSearched,
                                         recurrence_->end_time.value_or(kLastInstant));
  sys_days day = floor<days>(std::max({after, from_, anchor_}));
  for (; day <= last; day += days{1}) {
    const auto& listed = on(day);
    const auto next = std::upper_bound(listed.begin(), listed.end(), after);
    if (next != listed.end()) return *next;
  }
  return std::nullopt;
}

}  // namespace belfry
