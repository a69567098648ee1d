// SPDX-License-Identifier: MIT

#include "model/key.h"

#include <initializer_list>

#include "base/ascii.h"

namespace belfry {

namespace {

// Asked for several times with every firing, so it is made in one piece.
std::string folded_path(std::initializer_list<std::string_view> names) {
  std::size_t size = 0;
  for (const std::string_view name : names) size += name.size() + 1;
  std::string out;
  out.reserve(size);
  for (const std::string_view name : names) out.append(name).push_back('/');
  out.pop_back();
  make_lower(out);
  return out;
}

}  // namespace

std::string folded(std::string_view name) {
  return folded_path({name});
}

std::string folded(const CollectionKey& key) {
  return folded_path({key.subscription, key.resource_group, key.name});
}

std::string folded(const JobKey& key) {
  const CollectionKey& parent = key.collection;
  return folded_path({parent.subscription, parent.resource_group, parent.name, key.name});
}

bool same(const CollectionKey& a, const CollectionKey& b) {
  return folded(a) == folded(b);
}

bool same(const JobKey& a, const JobKey& b) {
  return folded(a) == folded(b);
}

}  // namespace belfry
