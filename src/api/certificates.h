// SPDX-License-Identifier: MIT
//
// Client certificates are opened when they come in: who sends one that does not open learns it
// then, and not when the job first runs, and nothing has to be derived to run it.

#pragma once

#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace belfry {

// Whether open_certificates() has something to open, which takes a while.
bool has_unopened_certificates(const JobDefinition& definition);

// Puts what is kept of the files (net/pfx.h) in their place, and writes down what the certificates
// say of themselves. One that does not open is an error that names its place below the job's
// properties. `stored` is the job that a PATCH was laid over: what it leaves alone stays as it is.
std::vector<Error> open_certificates(JobDefinition& definition,
                                     const JobDefinition* stored = nullptr);

// The same for a job that an older version stored with the files as they came. Of one that does not
// open, a refusal is kept. False: there is none.
bool keep_certificates(JobDefinition& stored);

}  // namespace belfry
