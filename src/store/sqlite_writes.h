// SPDX-License-Identifier: MIT
//
// What one Write does to the tables, inside a transaction that somebody else began. After a
// failure of the connection the answers mean nothing, and the transaction is to be undone.

#pragma once

#include <cstddef>

#include "store/sealer.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace belfry {

WriteResult apply(Connection& db, const Sealer& sealer, const Write& write);

// How many rows went.
std::size_t sweep_rows(Connection& db, const SweepLimits& limits);

}  // namespace belfry
