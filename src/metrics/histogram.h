// SPDX-License-Identifier: MIT
//
// Histogram counts durations by how long they were. observe() is a search among a few bounds and
// two additions: no lock, no allocation, so that it may stand in the way of every firing. Any
// thread may observe, any may read; a reader may see a duration counted whose length is not in
// the sum yet.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/instant.h"

namespace belfry {

class Histogram {
 public:
  static constexpr std::size_t kBoundsMax = 20;

  // The upper bounds of the buckets, in ascending order, each part of its bucket. What is longer
  // than the last has a bucket of its own.
  explicit Histogram(std::initializer_list<Ticks> bounds);

  void observe(Ticks duration);  // what is less than nothing counts as nothing

  struct Reading {
    std::vector<Ticks> bounds;
    std::vector<std::uint64_t> counts;  // one more than bounds; not added up
    Ticks sum{};
  };
  Reading read() const;

 private:
  std::array<Ticks, kBoundsMax> bounds_{};
  std::size_t bounds_count_;
  std::array<std::atomic<std::uint64_t>, kBoundsMax + 1> counts_{};
  std::atomic<std::int64_t> sum_ = 0;  // ticks: 29,000 years fit
};

}  // namespace belfry
