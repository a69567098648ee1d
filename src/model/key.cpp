// SPDX-License-Identifier: MIT

#include "model/key.h"

namespace belfry {

std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string folded(const CollectionKey& key) {
  return folded(key.subscription) + '/' + folded(key.resource_group) + '/' + folded(key.name);
}

std::string folded(const JobKey& key) {
  return folded(key.collection) + '/' + folded(key.name);
}

bool same(const CollectionKey& a, const CollectionKey& b) {
  return folded(a) == folded(b);
}

bool same(const JobKey& a, const JobKey& b) {
  return folded(a) == folded(b);
}

}  // namespace belfry
