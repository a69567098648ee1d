// SPDX-License-Identifier: MIT
//
// The keys with which Belfry sends for jobs that name a policy and no key. They stand in a
// file of their own, so that the configuration can be shown to anybody:
//
//   [contoso]
//   RootManageSharedAccessKey = "…"

#pragma once

#include <string>

#include "base/result.h"
#include "dispatch/service_bus_request.h"

namespace belfry {

// An error names the file and what is wrong with it, and shows no key.
Result<SharedAccessKeys> read_service_bus_keys(const std::string& path);

}  // namespace belfry
