// SPDX-License-Identifier: MIT
//
// By what the audit log knows a definition: a hash of its canonical text and its state. Secrets
// are left out, since a hash of a short password would tell it to whoever tries all of them.

#pragma once

#include <string>

#include "model/collection.h"
#include "model/job.h"

namespace belfry {

std::string fingerprint(const JobCollection& collection);
std::string fingerprint(const Job& job);
// Of a job with that definition_text() in that state.
std::string fingerprint(const std::string& definition_text, JobState state);

}  // namespace belfry
