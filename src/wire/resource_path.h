// SPDX-License-Identifier: MIT
//
// Resource paths as ARM writes them <-> keys and scopes. Segments are compared without regard to
// case; names come percent-encoded and are checked here, so that no other module meets a bad one.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "model/scope.h"
#include "model/url.h"

namespace belfry {

enum class Resource {
  provider,                     // /subscriptions/S/providers/Microsoft.Scheduler
  collections_of_subscription,  // …/providers/Microsoft.Scheduler/jobCollections
  collections_of_group,
  collection,
  collection_enable,
  collection_disable,
  jobs,
  job,
  job_enable,  // ours: a collection's has Azure too
  job_disable,
  job_run,
  job_preflight,
  job_history,
  tokens,  // /belfry/tokens: ours, without an api-version
  token,
  audit,
};

// Not Azure's.
inline bool is_own(Resource resource) {
  return resource == Resource::tokens || resource == Resource::token || resource == Resource::audit;
}

struct ResourcePath {
  Resource resource{};
  JobKey key;         // as much of it as the resource has
  std::string token;  // the id of one
};

inline constexpr std::size_t kNameBytesMax = 100;

// no_such_route when the path has none of the shapes; invalid when a name breaks its rule.
Result<ResourcePath> parse_resource_path(std::string_view path);

// "/" for everything, /subscriptions/S, …/resourceGroups/G, or a collection's id.
Result<Scope> parse_scope(std::string_view text);
std::string scope_id(const Scope& scope);

std::string collection_id(const CollectionKey& key);
std::string job_id(const JobKey& key);

// %41 and so on; none when an escape is cut short or stands for NUL.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace belfry
