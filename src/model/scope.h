// SPDX-License-Identifier: MIT
//
// Scope is a part of the tree of names: everything, a subscription, a resource group of it, or
// a job collection. Roles are given over a scope and hold for all that is in it.

#pragma once

#include <string>
#include <string_view>

#include "model/key.h"

namespace belfry {

struct Scope {
  std::string subscription;    // empty: everything
  std::string resource_group;  // empty: the whole subscription
  std::string collection;      // empty: the whole group
};

Scope scope_of(const CollectionKey& key);

// "", "sub", "sub/group" or "sub/group/collection", in lower case.
std::string folded(const Scope& scope);

// `inner` is `outer`, or lies in it.
bool covers(const Scope& outer, const Scope& inner);

}  // namespace belfry
