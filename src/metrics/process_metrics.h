// SPDX-License-Identifier: MIT
//
// What the kernel knows of this process, under the names that Prometheus' own clients use.

#pragma once

#include "metrics/families.h"

namespace belfry {

Families collect_process();

}  // namespace belfry
