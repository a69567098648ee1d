// SPDX-License-Identifier: MIT
//
// `belfry serve`: opens the store, starts engine and server, and runs until SIGTERM or SIGINT.

#pragma once

#include "app/settings.h"
#include "base/result.h"

namespace belfry {

// Returns when the server has stopped; an error when it could not start.
Status serve(const ServeSettings& settings);

}  // namespace belfry
