// SPDX-License-Identifier: MIT
//
// What the kernel knows of this process, under the names that Prometheus' own clients use.

#pragma once

#include "metrics/families.h"

namespace belfry {

// `began` is when the process did: /proc does not tell where only processes are to be seen in it.
Families collect_process(Instant began);

}  // namespace belfry
