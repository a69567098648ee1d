// SPDX-License-Identifier: MIT

#include "model/scope.h"

namespace belfry {

Scope scope_of(const CollectionKey& key) {
  return {key.subscription, key.resource_group, key.name};
}

std::string folded(const Scope& scope) {
  std::string out = scope.subscription;
  if (!scope.resource_group.empty()) out += '/' + scope.resource_group;
  if (!scope.collection.empty()) out += '/' + scope.collection;
  return folded(std::string_view(out));
}

bool covers(const Scope& outer, const Scope& inner) {
  if (outer.subscription.empty()) return true;
  const std::string whole = folded(outer);
  const std::string part = folded(inner);
  return part == whole || part.starts_with(whole + '/');
}

}  // namespace belfry
