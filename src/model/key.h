// SPDX-License-Identifier: MIT
//
// The names by which users know collections and jobs. They are spelt as the user first spelt
// them and compared without regard to case; folded() is what two spellings have in common.

#pragma once

#include <string>
#include <string_view>

namespace belfry {

struct CollectionKey {
  std::string subscription;
  std::string resource_group;
  std::string name;
};

struct JobKey {
  CollectionKey collection;
  std::string name;
};

// ASCII lower case: names hold nothing else that has case (wire/resource_path.h).
std::string folded(std::string_view name);

bool same(const CollectionKey& a, const CollectionKey& b);
bool same(const JobKey& a, const JobKey& b);

// One text for a map's key: no name holds a slash.
std::string folded(const CollectionKey& key);
std::string folded(const JobKey& key);

}  // namespace belfry
