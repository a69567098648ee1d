// SPDX-License-Identifier: MIT

#include "engine/not_found.h"

#include <fmt/format.h>

namespace belfry {

Error collection_not_found(const CollectionKey& key) {
  return {ErrorCode::collection_not_found,
          fmt::format("The Resource 'Microsoft.Scheduler/jobcollections/{}' under resource group "
                      "'{}' was not found.",
                      key.name, key.resource_group),
          {}};
}

Error job_not_found(const JobKey& key) {
  return {ErrorCode::job_not_found, fmt::format("Job '{}' cannot be found.", key.name), {}};
}

Error parent_missing(const CollectionKey& key) {
  return {ErrorCode::parent_missing,
          fmt::format("Can not perform requested operation on nested resource. Parent resource "
                      "'Microsoft.Scheduler/jobCollections/{}' under resource group '{}' was "
                      "not found.",
                      key.name, key.resource_group),
          {}};
}

}  // namespace belfry
