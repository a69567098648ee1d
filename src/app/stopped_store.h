// SPDX-License-Identifier: MIT
//
// What is done to a store whose server is stopped, because it cannot be asked: a job that keeps a
// server from living is disabled so.

#pragma once

#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "model/job.h"
#include "store/key_upkeep.h"

namespace belfry {

enum class JobSwitch { disable, enable };

// As the server would do it, with a row in the audit log that names the command. What to tell the
// operator.
Result<std::string> switch_job(const KeyPlace& place, const JobKey& key, JobSwitch to, Instant now);

}  // namespace belfry
