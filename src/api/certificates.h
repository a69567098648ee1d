// SPDX-License-Identifier: MIT
//
// Client certificates are opened when they come in: who sends one that does not open learns it
// then, and not when the job first runs.

#pragma once

#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace belfry {

// Whether there is one to be opened, which takes a while.
bool has_certificates(const JobDefinition& definition);

// Writes down what the certificates of a job say of themselves. One that does not open is an
// error that names its place below the job's properties.
std::vector<Error> look_into_certificates(JobDefinition& definition);

}  // namespace belfry
