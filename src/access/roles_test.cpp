// SPDX-License-Identifier: MIT

#include "access/roles.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

const Scope kEverything{};
const Scope kSubscription{"Sub", "", ""};
const Scope kGroup{"Sub", "Group", ""};
const Scope kCollection{"Sub", "Group", "Jobs"};

bool has(Role role, const Scope& assigned, Operation operation, const Scope& asked) {
  return may({PrincipalKind::token, "id", "name", {{role, assigned}}}, operation, asked);
}

TEST(Roles, EachMayDoWhatTheOnesBeforeItMay) {
  const std::pair<Operation, Role> first[] = {
      {Operation::read, Role::reader},
      {Operation::run_job, Role::operator_},
      {Operation::preflight_job, Role::operator_},
      {Operation::set_job_state, Role::operator_},
      {Operation::set_collection_state, Role::operator_},
      {Operation::write_job, Role::contributor},
      {Operation::delete_job, Role::contributor},
      {Operation::write_collection, Role::contributor},
      {Operation::delete_collection, Role::contributor},
      {Operation::manage_access, Role::owner},
      {Operation::move_clock, Role::owner},
  };
  for (const auto& [operation, needed] : first) {
    for (const auto& [name, role] : kRoles) {
      EXPECT_EQ(has(role, kGroup, operation, kCollection), role >= needed)
          << name << " " << action_name(operation);
    }
  }
}

TEST(Roles, AScopeCoversItselfAndWhatIsInItInAnySpelling) {
  const Scope scopes[] = {kEverything, kSubscription, kGroup, kCollection};
  for (std::size_t outer = 0; outer < 4; ++outer) {
    for (std::size_t inner = 0; inner < 4; ++inner) {
      EXPECT_EQ(covers(scopes[outer], scopes[inner]), outer <= inner) << outer << " " << inner;
    }
  }
  EXPECT_TRUE(covers({"SUB", "gROUP", ""}, {"sub", "group", "JOBS"}));
}

// Whoever may see something in a subscription, or all of it, is no stranger there.
TEST(Roles, APartInAScopeIsAnyRoleAboveOrBelowIt) {
  const auto part = [](const Scope& assigned, const Scope& scope) {
    return has_part_in({PrincipalKind::token, "id", "name", {{Role::reader, assigned}}}, scope);
  };
  for (const Scope& assigned : {kEverything, kSubscription, kGroup, kCollection}) {
    EXPECT_TRUE(part(assigned, kSubscription)) << folded(assigned);
  }
  EXPECT_TRUE(part({"SUB", "", ""}, kSubscription));
  EXPECT_FALSE(part({"Sub2", "", ""}, kSubscription));
  EXPECT_FALSE(part({"Sub", "Group2", ""}, kGroup));
  EXPECT_FALSE(has_part_in({PrincipalKind::token, "id", "name", {}}, kSubscription));
}

// Names that begin alike are not parts of one another.
TEST(Roles, NeighboursAreOutside) {
  for (const Scope& other : {Scope{"Sub2", "", ""}, Scope{"Su", "", ""}, Scope{"Sub", "Group2", ""},
                             Scope{"Sub", "Group", "Jobs2"}, Scope{"Sub2", "Group", "Jobs"}}) {
    EXPECT_FALSE(has(Role::owner, kCollection, Operation::read, other)) << folded(other);
    EXPECT_FALSE(has(Role::owner, other, Operation::read, kCollection)) << folded(other);
  }
}

TEST(Roles, WithoutAnAssignmentNothingIsAllowedButAListOfNothing) {
  const Principal nobody{PrincipalKind::token, "id", "name", {}};
  EXPECT_FALSE(may(nobody, Operation::read, kCollection));
  EXPECT_TRUE(may(nobody, Operation::list, kEverything));
}

TEST(Roles, AssignmentsAddUp) {
  const Principal both{PrincipalKind::token,
                       "id",
                       "name",
                       {{Role::reader, kSubscription}, {Role::contributor, kCollection}}};
  EXPECT_TRUE(may(both, Operation::read, kGroup));
  EXPECT_TRUE(may(both, Operation::write_job, kCollection));
  EXPECT_FALSE(may(both, Operation::write_collection, {"Sub", "Group", "Other"}));
}

}  // namespace
}  // namespace belfry
