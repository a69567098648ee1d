// SPDX-License-Identifier: MIT

#include "metrics/histogram.h"

#include <algorithm>

#include "base/assert.h"

namespace belfry {

Histogram::Histogram(std::initializer_list<Ticks> bounds) : bounds_count_(bounds.size()) {
  ASSERT(bounds.size() <= kBoundsMax);
  ASSERT(std::is_sorted(bounds.begin(), bounds.end()));
  std::copy(bounds.begin(), bounds.end(), bounds_.begin());
}

void Histogram::observe(Ticks duration) {
  duration = std::max(duration, Ticks{0});
  const Ticks* const first = bounds_.data();
  const Ticks* const bucket = std::lower_bound(first, first + bounds_count_, duration);
  counts_[static_cast<std::size_t>(bucket - first)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(duration.count(), std::memory_order_relaxed);
}

Histogram::Reading Histogram::read() const {
  Reading reading;
  reading.bounds.assign(bounds_.begin(), bounds_.begin() + static_cast<long>(bounds_count_));
  for (std::size_t i = 0; i <= bounds_count_; ++i) {
    reading.counts.push_back(counts_[i].load(std::memory_order_relaxed));
  }
  reading.sum = Ticks{sum_.load(std::memory_order_relaxed)};
  return reading;
}

}  // namespace belfry
