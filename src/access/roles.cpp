// SPDX-License-Identifier: MIT

#include "access/roles.h"

#include <algorithm>

#include "base/assert.h"

namespace belfry {
namespace {

struct Rule {
  Operation operation;
  std::optional<Role> role;
  std::string_view action;
};

constexpr Rule kRules[] = {
    {Operation::list, std::nullopt, "Microsoft.Scheduler/jobCollections/read"},
    {Operation::read, Role::reader, "Microsoft.Scheduler/jobCollections/read"},
    {Operation::run_job, Role::operator_, "Microsoft.Scheduler/jobCollections/jobs/run/action"},
    {Operation::preflight_job, Role::operator_,
     "Microsoft.Scheduler/jobCollections/jobs/preflight/action"},
    {Operation::set_job_state, Role::operator_,
     "Microsoft.Scheduler/jobCollections/jobs/state/write"},
    {Operation::set_collection_state, Role::operator_,
     "Microsoft.Scheduler/jobCollections/state/write"},
    {Operation::write_job, Role::contributor, "Microsoft.Scheduler/jobCollections/jobs/write"},
    {Operation::delete_job, Role::contributor, "Microsoft.Scheduler/jobCollections/jobs/delete"},
    {Operation::write_collection, Role::contributor, "Microsoft.Scheduler/jobCollections/write"},
    {Operation::delete_collection, Role::contributor, "Microsoft.Scheduler/jobCollections/delete"},
    {Operation::manage_access, Role::owner, "Belfry/tokens/write"},
    {Operation::move_clock, Role::owner, "Belfry/clock/write"},
};

const Rule& rule_of(Operation operation) {
  const Rule& rule = kRules[static_cast<std::size_t>(operation)];
  ASSERT(rule.operation == operation);
  return rule;
}

}  // namespace

std::optional<Role> role_needed(Operation operation) {
  return rule_of(operation).role;
}

std::string_view action_name(Operation operation) {
  return rule_of(operation).action;
}

bool may(const Principal& principal, Operation operation, const Scope& scope) {
  const auto needed = role_needed(operation);
  if (!needed) return true;
  return std::any_of(principal.assignments.begin(), principal.assignments.end(),
                     [&](const Assignment& assignment) {
                       return assignment.role >= *needed && covers(assignment.scope, scope);
                     });
}

bool has_part_in(const Principal& principal, const Scope& scope) {
  return std::any_of(principal.assignments.begin(), principal.assignments.end(),
                     [&](const Assignment& assigned) {
                       return covers(assigned.scope, scope) || covers(scope, assigned.scope);
                     });
}

}  // namespace belfry
