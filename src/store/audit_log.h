// SPDX-License-Identifier: MIT
//
// AuditLog is where changes are read back. Rows come into it with the change they tell of, in
// the same transaction (AppendAudit of store.h, TokenStore): a change without its row, or a row
// without its change, cannot survive a crash, for neither can exist.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/audit.h"

namespace belfry {

struct AuditQuery {
  std::string scope;  // folded(Scope); its rows and those of all in it; empty: every row
  std::int64_t before = std::numeric_limits<std::int64_t>::max();  // the last number seen
  std::size_t limit = 0;
};

class AuditLog {
 public:
  virtual ~AuditLog() = default;

  // The newest first. Any thread.
  virtual Result<std::vector<AuditRow>> audit_rows(const AuditQuery& query) = 0;
};

}  // namespace belfry
