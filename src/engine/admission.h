// SPDX-License-Identifier: MIT
//
// What a collection's quota and plan allow a job to be. Pure.

#pragma once

#include "base/result.h"
#include "model/collection.h"
#include "model/job.h"
#include "model/plan.h"

namespace belfry {

// invalid: the plan has no such feature. conflict: the job recurs more often than the quota
// allows.
Status admit(const JobDefinition& definition, const JobCollection& collection, const Plan& plan);

// The collection has as many jobs as its quota allows. Says how it can have more.
Error full(const JobCollection& collection, const Plan& plan);

// The shortest time between two occurrences that the recurrence can have, by its period and
// by its schedule; months count as in the quota, 28 days at least.
Ticks shortest_gap(const Recurrence& recurrence);

}  // namespace belfry
