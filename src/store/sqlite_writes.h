// SPDX-License-Identifier: MIT
//
// What Writes do to the tables, inside a transaction that somebody else began. After a failure
// of the connection the answers mean nothing, and the transaction is to be undone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "store/sealer.h"
#include "store/sqlite.h"
#include "store/sqlite_audit.h"
#include "store/store.h"

namespace belfry {

// The writes of one transaction. What they add up to, such as how many jobs a collection has, is
// written once, by finish().
class SqliteBatch {
 public:
  SqliteBatch(Connection& db, const Sealer& sealer) : db_(db), sealer_(sealer), audit_(db) {}

  WriteResult apply(const Write& write);
  void finish();

 private:
  WriteResult apply_one(const PutCollection& write);
  WriteResult apply_one(const DeleteCollection& write);
  WriteResult apply_one(const PutJob& write);
  WriteResult apply_one(const DeleteJob& write);
  WriteResult apply_one(const AdvanceJob& write);
  WriteResult apply_one(const AddHistory& write);
  WriteResult apply_one(const AppendAudit& write);

  bool insert(const Job& job);
  bool replace(const Job& job, std::int64_t expected_gen);
  bool is_being_removed(JobId id);
  std::optional<std::int64_t> id_of(const std::string& folded_collection);

  Connection& db_;
  const Sealer& sealer_;
  AuditAppender audit_;
  std::unordered_map<std::string, std::int64_t> collections_;  // ids by folded key
  std::unordered_map<std::int64_t, std::int64_t> more_jobs_;   // by the collection's id
  std::optional<JobId> last_removed_;  // the largest that is being removed; none: not looked yet
};

// How many rows went. Rows of history up to the id `passed_over` are of the future: it moves on
// where there are more of those than a sweep looks at, or what is old behind them would stay.
std::size_t sweep_rows(Connection& db, const SweepLimits& limits, std::int64_t& passed_over);

}  // namespace belfry
