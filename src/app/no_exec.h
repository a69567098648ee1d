// SPDX-License-Identifier: MIT
//
// Belfry calls; it runs no code. From forbid_exec() on the kernel holds it to that: neither this
// process nor a child of it can start another program, wherever it runs and whoever started it.

#pragma once

#include "base/result.h"

namespace belfry {

// For the calling thread and those that it makes later. Error: this kernel has no such filter.
Status forbid_exec();

}  // namespace belfry
