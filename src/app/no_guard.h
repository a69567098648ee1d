// SPDX-License-Identifier: MIT
//
// What the operator names is called wherever it is: the guard is for what jobs name.

#pragma once

#include "net/egress_guard.h"

namespace belfry {

EgressGuard no_guard();

}  // namespace belfry
