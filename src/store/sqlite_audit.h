// SPDX-License-Identifier: MIT
//
// The audit log in SQLite: appending within a transaction, reading, and looking whether it is
// still what was written.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/audit_log.h"
#include "store/sqlite.h"

namespace belfry {

// A row by which others are known: the one before, or one that somebody wrote down earlier, away
// from the store.
struct AuditMark {
  std::int64_t number = 0;
  std::string hash;
};

// Appends to the log, between BEGIN and COMMIT of the changes that it tells of. The head is read
// before the first row and written after the last, by finish(); so is where a subscription's are.
class AuditAppender {
 public:
  explicit AuditAppender(Connection& db) : db_(db) {}
  void append(const AuditEntry& entry);
  void finish();

 private:
  struct Span {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };

  Connection& db_;
  std::optional<AuditMark> head_;      // none: nothing was appended yet
  std::map<std::string, Span> spans_;  // by subscription
};

// One row alone.
void append_audit(Connection& db, const AuditEntry& entry);

std::vector<AuditRow> list_audit(Connection& db, const AuditQuery& query);

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
