// SPDX-License-Identifier: MIT
//
// RateLimits says whether somebody may ask once more. Whoever asks has two buckets, one for
// reads and one for writes, as Azure's resource manager counts them; a request takes a token out
// of one, and tokens come back at an even rate. Who asks less than that is never refused, and a
// burst may take as many at once as the bucket holds.
//
// A bucket is one instant: when it will be full again. No more than `keys_max` are remembered;
// beyond them whoever asked longest ago is forgotten, whose buckets had the most time to fill.
// It reads no clock, so a table of cases can test it whole. Any thread may call.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/instant.h"
#include "base/recent.h"

namespace belfry {

enum class RequestKind { read, write };

struct Rate {
  std::int64_t per_second = 0;  // 0: as many as one likes
  std::int64_t at_once = 0;     // what a full bucket holds

  bool unlimited() const { return per_second == 0; }
  bool operator==(const Rate&) const = default;
};

struct Rates {
  Rate reads;
  Rate writes;
};

struct Allowance {
  bool granted = true;
  std::int64_t remaining = 0;  // tokens that are left
  Ticks retry_after{};         // until there is one again, where none was granted
};

class RateLimits {
 public:
  static constexpr std::size_t kKeysMax = 10'000;

  explicit RateLimits(const Rates& rates, std::size_t keys_max = kKeysMax)
      : rates_(rates), buckets_(keys_max) {}

  bool limited(RequestKind kind) const { return !rate_of(kind).unlimited(); }

  // Takes a token, if there is one.
  Allowance take(const std::string& key, RequestKind kind, Instant now);

  // What take() would say; it takes none.
  Allowance look(const std::string& key, RequestKind kind, Instant now) const;

  std::size_t keys() const;

 private:
  struct Buckets {
    std::array<Instant, 2> full_at{kFirstInstant, kFirstInstant};  // by RequestKind
  };

  const Rate& rate_of(RequestKind kind) const;

  const Rates rates_;
  mutable std::mutex mutex_;
  Recent<Buckets> buckets_;
};

}  // namespace belfry
