// SPDX-License-Identifier: MIT
//
// The chain of the audit log: the hash of a row covers the row and the hash of the row before
// it, so that none can be altered, removed or put in without the rows after it telling.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/audit.h"

namespace belfry {

// `previous` is the hash of the row before it, empty for row 1.
std::string chained_hash(std::string_view previous, std::int64_t number, const AuditEntry& entry);

}  // namespace belfry
