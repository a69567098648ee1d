// SPDX-License-Identifier: MIT

#include "api/rate_limits.h"

#include <algorithm>

namespace belfry {

Allowance RateLimits::take(const std::string& key, RequestKind kind, Instant now) {
  const Rate& rate = rate_of(kind);
  if (rate.unlimited()) return {};
  const Ticks token = Ticks{Seconds{1}} / rate.per_second;
  const Ticks whole = token * rate.at_once;
  const std::lock_guard lock(mutex_);
  Instant& full_at = buckets_of(key).full_at[static_cast<std::size_t>(kind)];
  // No emptier than empty: the clock may have been put back.
  const Ticks missing = std::clamp(full_at - now, Ticks{0}, whole);
  full_at = now + missing;
  if (missing + token > whole) return {false, 0, missing + token - whole};
  full_at += token;
  return {true, (whole - missing) / token - 1, {}};
}

std::size_t RateLimits::keys() const {
  const std::lock_guard lock(mutex_);
  return by_key_.size();
}

const Rate& RateLimits::rate_of(RequestKind kind) const {
  return kind == RequestKind::read ? rates_.reads : rates_.writes;
}

RateLimits::Buckets& RateLimits::buckets_of(const std::string& key) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    recent_.splice(recent_.begin(), recent_, known->second);
    return recent_.front();
  }
  if (by_key_.size() >= keys_max_) {
    by_key_.erase(recent_.back().key);
    recent_.pop_back();
  }
  recent_.push_front({key, {kFirstInstant, kFirstInstant}});
  by_key_.emplace(key, recent_.begin());
  return recent_.front();
}

}  // namespace belfry
