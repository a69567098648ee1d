// SPDX-License-Identifier: MIT
//
// Who may do what: the operations, the role that each needs, and may(), which every request
// is decided by. Pure; docs/access.md has the same as a table, and a test compares the two.

#pragma once

#include <optional>
#include <string_view>

#include "access/principal.h"
#include "model/role.h"
#include "model/scope.h"

namespace belfry {

enum class Operation {
  list,  // shows what one may read, which may be nothing
  read,
  run_job,
  preflight_job,
  set_job_state,
  set_collection_state,
  write_job,
  delete_job,
  write_collection,
  delete_collection,
  manage_access,
  move_clock,
};

// The role that it takes; none: whoever is known may.
std::optional<Role> role_needed(Operation operation);

// What ARM calls it: Microsoft.Scheduler/jobCollections/jobs/run/action.
std::string_view action_name(Operation operation);

bool may(const Principal& principal, Operation operation, const Scope& scope);

// Whether it was given any role over something that is in the scope, or that the scope is in.
bool has_part_in(const Principal& principal, const Scope& scope);

}  // namespace belfry
