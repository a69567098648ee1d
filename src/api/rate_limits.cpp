// SPDX-License-Identifier: MIT

#include "api/rate_limits.h"

#include <algorithm>

namespace belfry {
namespace {

Ticks token_of(const Rate& rate) {
  return Ticks{Seconds{1}} / rate.per_second;
}

// No emptier than empty: the clock may have been put back.
Ticks missing_at(Instant now, Instant full_at, const Rate& rate) {
  return std::clamp(full_at - now, Ticks{0}, token_of(rate) * rate.at_once);
}

Allowance allowance_of(Ticks missing, const Rate& rate) {
  const Ticks token = token_of(rate);
  const Ticks whole = token * rate.at_once;
  if (missing + token > whole) return {false, 0, missing + token - whole};
  return {true, (whole - missing) / token - 1, {}};
}

}  // namespace

Allowance RateLimits::take(const std::string& key, RequestKind kind, Instant now) {
  const Rate& rate = rate_of(kind);
  if (rate.unlimited()) return {};
  const std::lock_guard lock(mutex_);
  Instant& full_at = buckets_.at(key).full_at[static_cast<std::size_t>(kind)];
  const Ticks missing = missing_at(now, full_at, rate);
  const Allowance allowance = allowance_of(missing, rate);
  full_at = now + missing + (allowance.granted ? token_of(rate) : Ticks{0});
  return allowance;
}

Allowance RateLimits::look(const std::string& key, RequestKind kind, Instant now) const {
  const Rate& rate = rate_of(kind);
  if (rate.unlimited()) return {};
  const std::lock_guard lock(mutex_);
  const Buckets* known = buckets_.peek(key);
  const Instant full_at = known == nullptr ? now : known->full_at[static_cast<std::size_t>(kind)];
  return allowance_of(missing_at(now, full_at, rate), rate);
}

std::size_t RateLimits::keys() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

const Rate& RateLimits::rate_of(RequestKind kind) const {
  return kind == RequestKind::read ? rates_.reads : rates_.writes;
}

}  // namespace belfry
