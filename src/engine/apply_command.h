// SPDX-License-Identifier: MIT
//
// apply_command() carries a command out on a draft: does the thing exist, do quota and plan allow
// it, what becomes of it. Nothing is durable until the draft is committed.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "engine/command.h"
#include "engine/draft.h"
#include "model/audit.h"
#include "model/plan.h"

namespace belfry {

// What a command changed, for the audit log: fingerprints of the thing before and after.
struct Trail {
  std::optional<AuditResult> result;  // none: nothing changed
  std::string before;
  std::string after;
};

struct Applying {
  Draft& draft;
  const Plans& plans;
  Instant now;
  std::function<JobId()> mint_id;
  Trail* trail = nullptr;  // none: nobody wants to know
};

Result<Reply> apply_command(const Command& command, const Applying& with);

// The job that the command changes, or the collection, with all its jobs. `run` changes nothing
// where a start is on its way, to its target's queue too, and is not among them.
const JobKey* job_changed_by(const Command& command);
const CollectionKey* collection_changed_by(const Command& command);

// The folded key of what the command is about.
std::string key_of(const Command& command);

}  // namespace belfry
