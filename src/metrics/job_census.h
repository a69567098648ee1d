// SPDX-License-Identifier: MIT
//
// JobCensus knows how many jobs there are, by state. Counting takes a while where there are many,
// and several may ask: it is done at most every so often, by whoever asks then. Any thread.

#pragma once

#include <mutex>
#include <optional>

#include "base/stopwatch.h"
#include "store/store_facts.h"

namespace belfry {

class JobCensus {
 public:
  static constexpr Ticks kEvery = std::chrono::seconds{10};

  explicit JobCensus(StoreFacts& store, Ticks every = kEvery) : store_(store), every_(every) {}

  // None while the store cannot be read.
  std::optional<JobCounts> counts();

 private:
  StoreFacts& store_;
  const Ticks every_;
  std::mutex mutex_;  // guards what follows
  std::optional<Stopwatch> since_;
  std::optional<JobCounts> counts_;
};

}  // namespace belfry
