// SPDX-License-Identifier: MIT
//
// When the engine has its store remove what is old.

#include <algorithm>
#include <utility>

#include "engine/engine.h"

namespace belfry {
namespace {

// While others have something due soon, so few rows of history are looked at for old secrets.
constexpr std::size_t kEchoesBesideOthersMax = 5;

}  // namespace

// A slice a second; soon again while there is more.
void Engine::sweep(Instant now) {
  // The clock may have been put back.
  if (now < next_sweep_ && next_sweep_ - now <= options_.sweep_every) return;
  const std::size_t limit =
      std::min(options_.sweep_rows + std::exchange(rows_since_sweep_, 0), options_.sweep_rows_max);
  const std::size_t echoes_max = others_soon(now) ? kEchoesBesideOthersMax : options_.sweep_rows;
  const bool more = sweep_slice(limit, echoes_max, now);
  next_sweep_ = now + options_.sweep_every / (more ? sweeps_per_interval(limit, now) : 1);
}

void Engine::sweep_all(Instant now) {
  const std::size_t limit = options_.sweep_rows_max;
  while (recovered_ && sweep_slice(limit, /*echoes_max=*/limit, now)) {
  }
}

bool Engine::sweep_slice(std::size_t limit, std::size_t echoes_max, Instant now) {
  const auto swept = store_.sweep({.history_before = now - options_.history_kept,
                                   .ended_before = now - options_.ended_jobs_kept,
                                   .limit = limit,
                                   .now = now,
                                   .echoes_max = echoes_max});
  if (!swept) lose_store(swept.error());
  return swept && *swept >= limit;
}

// While there is more to sweep. Rarely where others want the processor for their calls, unless more
// comes than would go.
int Engine::sweeps_per_interval(std::size_t limit, Instant now) const {
  return others_soon(now) && limit < options_.sweep_rows_max ? 4 : 20;
}

}  // namespace belfry
