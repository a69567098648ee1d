// SPDX-License-Identifier: MIT
//
// Was what the database says written by Belfry? Of tokens, collections and the store's own facts
// this is asked when the store is opened, for they decide who may do what; of a definition whenever
// it is read; of all of them by `belfry check` and `belfry restore`.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// Calls `found` with a sentence for each row of these that somebody else wrote. If the store says
// that every row has its MAC, the sealer demands them from now on.
void find_forged(Connection& db, Sealer& sealer, const std::function<void(std::string)>& found);

// The first of those, if there is one.
Status expect_genuine(Connection& db, Sealer& sealer);

// How many rows of version 0.1 are still without a MAC.
std::int64_t rows_without_mac(Connection& db);

}  // namespace belfry
