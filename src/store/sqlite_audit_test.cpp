// SPDX-License-Identifier: MIT
//
// An audit log that somebody tampered with tells which row.

#include "store/sqlite_audit.h"

#include <gtest/gtest.h>

#include "store/audit_chain.h"
#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr int kRows = 6;

class AuditVerification : public testing::Test {
 protected:
  AuditVerification() {
    auto store = SqliteStore::open({.directory = data()});
    if (!store) ADD_FAILURE() << store.error().message;
    for (int i = 1; i <= kRows; ++i) {
      AuditEntry entry;
      entry.request.resource = fmt::format("row {}", i);
      EXPECT_TRUE((*store)->commit({AppendAudit{entry, std::nullopt}}));
    }
  }

  std::filesystem::path data() const { return directory_.path() / "data"; }

  void tamper(const std::string& statements) {
    auto db = Connection::open(database_path(data()).native(), OpenMode::existing, "");
    ASSERT_TRUE(db);
    (*db)->execute(statements);
    ASSERT_FALSE((*db)->failed());
  }

  std::string hash_of(std::int64_t number) {
    const auto db = Connection::open(database_path(data()).native(), OpenMode::existing, "");
    if (!db) return "";
    Rows rows = (*db)->query("SELECT hash FROM audit WHERE number = ?1", number);
    return rows.next() ? rows.text() : "";
  }

  AuditFindings findings(std::optional<AuditMark> mark = std::nullopt) {
    auto found = verify_audit(data(), mark);
    if (!found) ADD_FAILURE() << found.error().message;
    return *found;
  }

  std::vector<std::string> problems(std::optional<AuditMark> mark = std::nullopt) {
    return findings(std::move(mark)).problems;
  }

  using Problems = std::vector<std::string>;
  ScratchDirectory directory_;
};

TEST_F(AuditVerification, ASoundLogHasNoProblems) {
  const AuditFindings found = findings();
  EXPECT_EQ(found.problems, Problems{});
  EXPECT_EQ(found.rows, kRows);
  EXPECT_EQ(found.last.number, kRows);
}

TEST_F(AuditVerification, AnAlteredRowIsNamed) {
  for (const char* column : {"principal", "principal_id", "address", "operation", "scope",
                             "resource", "before", "after", "hash"}) {
    const std::string set =
        fmt::format("UPDATE audit SET {0} = {0} || 'x' WHERE number = 3", column);
    tamper(set);
    ASSERT_FALSE(problems().empty()) << column;
    EXPECT_EQ(problems()[0], "row 3 was altered, or the one before it and its hash") << column;
    tamper(fmt::format("UPDATE audit SET {0} = substr({0}, 1, length({0}) - 1) WHERE number = 3",
                       column));
    EXPECT_EQ(problems(), Problems{}) << column;
  }
  for (const char* column : {"at", "kind", "result"}) {
    tamper(fmt::format("UPDATE audit SET {0} = {0} + 1 WHERE number = 3", column));
    EXPECT_EQ(problems(), Problems{"row 3 was altered, or the one before it and its hash"});
    tamper(fmt::format("UPDATE audit SET {0} = {0} - 1 WHERE number = 3", column));
  }
}

// That is what the chain is for: whoever alters a row has to alter all that follow.
TEST_F(AuditVerification, ARowThatWasAlteredTogetherWithItsHashIsFoundByTheNext) {
  AuditEntry forged;
  forged.request.resource = "forged";
  tamper(fmt::format("UPDATE audit SET resource = 'forged', hash = '{}' WHERE number = 3",
                     chained_hash(hash_of(2), 3, forged)));
  EXPECT_EQ(problems(), Problems{"row 4 was altered, or the one before it and its hash"});
}

TEST_F(AuditVerification, MissingRowsAreNamedWhereverTheyWere) {
  tamper("DELETE FROM audit WHERE number = 1");
  EXPECT_EQ(problems(), Problems{"row 1 is missing"});
  tamper("DELETE FROM audit WHERE number IN (3, 4)");
  EXPECT_EQ(problems(), (Problems{"row 1 is missing", "rows 3 to 4 are missing"}));
  tamper("DELETE FROM audit WHERE number = 6");
  EXPECT_EQ(problems(),
            (Problems{"row 1 is missing", "rows 3 to 4 are missing", "row 6 is missing"}));
}

TEST_F(AuditVerification, AllRowsRemovedAreAllMissing) {
  tamper("DELETE FROM audit");
  EXPECT_EQ(problems(), Problems{"rows 1 to 6 are missing"});
}

// Who cuts off the end and says so in the head is found by what was written down before.
TEST_F(AuditVerification, ALogThatWasMadeAnewIsFoundByAMark) {
  const AuditMark last = findings().last;
  EXPECT_EQ(problems(last), Problems{});
  tamper(R"(DELETE FROM audit WHERE number > 4;
            UPDATE audit_head SET number = 4, hash = (SELECT hash FROM audit WHERE number = 4))");
  EXPECT_EQ(problems(), Problems{});
  EXPECT_EQ(problems(last), Problems{"rows 5 to 6 are missing"});
  EXPECT_EQ(problems(AuditMark{4, "other"}),
            Problems{"row 4 is not the one that was written down: the log was made anew"});
}

}  // namespace
}  // namespace belfry
