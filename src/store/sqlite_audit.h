// SPDX-License-Identifier: MIT
//
// The audit log in SQLite: appending within a transaction, reading, and looking whether it is
// still what was written.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/audit_log.h"
#include "store/sqlite.h"

namespace belfry {

// Between BEGIN and COMMIT of the change that it tells of.
void append_audit(Connection& db, const AuditEntry& entry);

std::vector<AuditRow> list_audit(Connection& db, const AuditQuery& query);

// A row as somebody wrote it down earlier, away from the store.
struct AuditMark {
  std::int64_t number = 0;
  std::string hash;
};

struct AuditFindings {
  std::int64_t rows = 0;
  AuditMark last;                     // of the rows that are there
  std::vector<std::string> problems;  // the first kProblemsMax, each naming its row
};

// Reads the whole log of a store's directory; a server may be running meanwhile. Whoever can
// write the database can chain a forged log anew: only a mark kept elsewhere shows that.
Result<AuditFindings> verify_audit(const std::filesystem::path& directory,
                                   const std::optional<AuditMark>& mark);

}  // namespace belfry
