// SPDX-License-Identifier: MIT
//
// A job's definition <-> canonical wire JSON. The same text is what clients see, what is kept
// in the store, and what a PATCH is merged into. Secrets never stand in it: they travel as a
// text of their own, which the store seals.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "wire/action_json.h"
#include "wire/json.h"

namespace belfry {

// Definition and secrets together: twice what a body may have.
inline constexpr std::size_t kJobBytesMax = 16 * 1024;
constexpr std::size_t job_bytes_max(std::size_t body_bytes_max) {
  return 2 * body_bytes_max;
}
static_assert(job_bytes_max(kBodyBytesMax) == kJobBytesMax);

// Reads the definition out of a job's properties: startTime, action (with errorAction and
// retryPolicy in every place where the founding documents put them) and recurrence.
JobDefinition read_definition(ObjectReader& properties, Reading& reading);

// Its definition_text(). Fails when definition and secrets are larger than a job may be. Apart, for
// it costs as much as reading one, and what is stored was small enough.
std::string measured_text(const JobDefinition& definition, Reading& reading);

// The members startTime, action, recurrence, for the object that is open: in the live service's
// order. Then ours.
void write_definition(JsonWriter& out, const JobDefinition& definition,
                      const WriteOptions& options);

// For the store: the definition's text, and apart from it the secrets' of each action (empty when
// there are none). What comes back from the store was accepted once and is not judged again.
std::string definition_text(const JobDefinition& definition, Secrets secrets = Secrets::omit);
std::string secrets_text(const Action& action);
Result<JobDefinition> parse_definition(std::string_view definition);
Status add_secrets(Action& action, std::string_view secrets);

// The same from a text of version 0.1, which had those of both actions.
Status add_secrets_of_both(JobDefinition& definition, std::string_view secrets);

// A secret that a client sent as kSealed is the one that is stored at its place, as long as the
// action still goes where that one may go; else it is a fault. `stored` is asked only if there is
// such a secret, and may give none; `path` is that of the action.
using PreviousDefinition = std::function<const JobDefinition*()>;
void keep_secrets(JobDefinition& definition, const PreviousDefinition& stored,
                  const std::string& path, Reading& reading);

}  // namespace belfry
