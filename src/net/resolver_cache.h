// SPDX-License-Identifier: MIT
//
// ResolverCache keeps answers of name servers until their time is over. Bounded: when it is
// full it forgets everything, which costs some lookups and no correctness.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/instant.h"
#include "net/resolver.h"

namespace belfry {

class ResolverCache {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t kNamesMax = 10'000;
  static constexpr Seconds kTtlMin{1};    // also for failures: a herd asks once
  static constexpr Seconds kTtlMax{300};  // a target that moves is found within this time

  // None when nothing valid is kept.
  const Resolution* find(const std::string& host, Time now) const;

  void keep(const std::string& host, const Resolution& resolution, Seconds ttl, Time now);
  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Resolution resolution;
    Time until;
  };
  std::unordered_map<std::string, Kept> kept_;
};

}  // namespace belfry
