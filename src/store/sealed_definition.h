// SPDX-License-Identifier: MIT
//
// A job's definition as a store keeps it: the document, in which no secret stands; what is secret
// of each action, sealed for where that action goes; and the MAC over all of it.

#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/job.h"
#include "store/row_macs.h"
#include "store/sealer.h"

namespace belfry {

struct SealedDefinition {
  std::string document;
  std::optional<std::string> main_secrets;
  std::optional<std::string> error_secrets;
  std::string mac;
};

Result<SealedDefinition> seal_definition(const Sealer& sealer, const Job& job);

// An error is this job's alone: somebody changed what is stored of it, or the key is not here.
Result<JobDefinition> open_definition(const Sealer& sealer, JobId job, const JobKey& key,
                                      const StoredDefinition& stored);

}  // namespace belfry
