// SPDX-License-Identifier: MIT
//
// A copy of a database as it is at this moment, in one new file: a backup, and what is kept of a
// database before it is changed.

#pragma once

#include <filesystem>

#include "base/result.h"
#include "store/sqlite.h"

namespace belfry {

// The target must not be there; it is there, whole and durable, when this succeeds.
Status copy_database(Connection& db, const std::filesystem::path& target);

}  // namespace belfry
