// SPDX-License-Identifier: MIT
//
// Where an action's secrets may go: what the job itself names, never what an operator's setting
// makes of it. A secret was given for one destination. It is sealed together with it, and must be
// sent again when it changes.

#pragma once

#include <string>

#include "model/action.h"

namespace belfry {

// Equal texts are one destination: scheme, host and port, with OAuth the tenant and the audience
// too; the storage account; the Service Bus namespace.
std::string destination_of(const Action& action);

}  // namespace belfry
