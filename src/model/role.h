// SPDX-License-Identifier: MIT
//
// Roles, each of which may do what those before it may. An assignment gives one over a scope.

#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scope.h"

namespace belfry {

enum class Role { reader, operator_, contributor, owner };

inline constexpr std::pair<std::string_view, Role> kRoles[] = {
    {"Reader", Role::reader},
    {"Operator", Role::operator_},
    {"Contributor", Role::contributor},
    {"Owner", Role::owner},
};

constexpr std::string_view name_of(Role role) {
  return kRoles[static_cast<std::size_t>(role)].first;
}

struct Assignment {
  Role role = Role::reader;
  Scope scope;
};
using Assignments = std::vector<Assignment>;

inline constexpr std::size_t kAssignmentsMax = 16;  // of one token

}  // namespace belfry
