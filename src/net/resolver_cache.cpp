// SPDX-License-Identifier: MIT

#include "net/resolver_cache.h"

#include <algorithm>

namespace belfry {

const Resolution* ResolverCache::find(const std::string& host, Time now) const {
  const auto kept = kept_.find(host);
  if (kept == kept_.end() || kept->second.until <= now) return nullptr;
  return &kept->second.resolution;
}

void ResolverCache::keep(const std::string& host, const Resolution& resolution, Seconds ttl,
                         Time now) {
  if (kept_.size() >= kNamesMax && !kept_.contains(host)) kept_.clear();
  const Seconds bounded =
      resolution.addresses.empty() ? kTtlMin : std::clamp(ttl, kTtlMin, kTtlMax);
  kept_.insert_or_assign(host, Kept{resolution, now + bounded});
}

}  // namespace belfry
