// SPDX-License-Identifier: MIT
//
// A page of a job's history, as the SQLite store's indexes find it.

#pragma once

#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace belfry {

std::vector<HistoryEntry> list_history(Connection& db, const HistoryQuery& query);

}  // namespace belfry
