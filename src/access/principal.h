// SPDX-License-Identifier: MIT
//
// Principal is who makes a request, as far as it has been proved, and what was assigned to it.

#pragma once

#include <string>

#include "model/audit.h"
#include "model/role.h"

namespace belfry {

struct Principal {
  PrincipalKind kind = PrincipalKind::local;
  std::string id;
  std::string name;
  Assignments assignments;
};

}  // namespace belfry
