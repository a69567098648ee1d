// SPDX-License-Identifier: MIT
//
// Counter only ever goes up. Any thread may add and read; it orders nothing.

#pragma once

#include <atomic>
#include <cstdint>

namespace belfry {

class Counter {
 public:
  void add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace belfry
