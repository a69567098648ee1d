// SPDX-License-Identifier: MIT

#include "store/log_vfs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/lossy_vfs.h"
#include "store/sqlite.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr char kInsert[] = "INSERT INTO t(text) VALUES (?1)";
constexpr char kCount[] = "SELECT count(*) FROM t";

std::unique_ptr<Connection> open_at(const std::string& path, const std::string& vfs) {
  auto db = Connection::open(path, OpenMode::create, vfs);
  EXPECT_TRUE(db);
  (*db)->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  return *std::move(db);
}

std::unique_ptr<Connection> made_at(const std::string& path, const std::string& vfs) {
  auto db = open_at(path, vfs);
  db->execute("CREATE TABLE t(text TEXT)");
  return db;
}

// So many pages and a few more.
void commit_pages(Connection& db, int pages) {
  db.execute("BEGIN");
  for (int i = 0; i < pages; ++i) db.run(kInsert, std::string(4000, 'x'));
  db.execute("COMMIT");
  EXPECT_FALSE(db.failed());
}

class LogVfsTest : public testing::Test {
 protected:
  std::string database() const { return (scratch_.path() / "belfry.db").native(); }
  std::string log() const { return database() + "-wal"; }

  // What the files hold if the machine stops now.
  std::int64_t rows_after_a_crash() const {
    const ScratchDirectory elsewhere;
    const std::string copy = (elsewhere.path() / "belfry.db").native();
    std::filesystem::copy_file(database(), copy);
    std::filesystem::copy_file(log(), copy + "-wal");
    const auto db = open_at(copy, "");
    EXPECT_EQ(db->value("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
              1);
    return db->value(kCount).value_or(-1);
  }

  ScratchDirectory scratch_;
};

// Twenty pages are forty writes of SQLite's.
TEST_F(LogVfsTest, ACommitIsWrittenInAFewPieces) {
  LossyDisk disk(1);
  LossyVfs lossy("counted", disk);
  const LogVfs vfs("counted");
  const auto db = made_at("/belfry.db", vfs.name());
  disk.plan(DiskFault::full, /*ordinal=*/1'000'000);
  commit_pages(*db, 20);
  EXPECT_EQ(disk.operations(), 1);
  commit_pages(*db, 60);
  EXPECT_LE(disk.operations(), 4);
  EXPECT_EQ(db->value(kCount), 80);
}

// A transaction that does not fit into memory reads its own pages from the log.
TEST_F(LogVfsTest, ReadsWhatIsGathered) {
  const LogVfs vfs("");
  const auto db = made_at(database(), vfs.name());
  db->execute("PRAGMA cache_size = 10");
  db->execute("BEGIN");
  for (int i = 0; i < 500; ++i) db->run(kInsert, fmt::format("{}{}", std::string(3000, 'x'), i));
  EXPECT_EQ(db->value("SELECT count(DISTINCT text) FROM t"), 500);
  db->execute("COMMIT");
  EXPECT_FALSE(db->failed());
  EXPECT_EQ(rows_after_a_crash(), 500);
}

TEST_F(LogVfsTest, ADiskThatIsFullFailsTheCommit) {
  LossyDisk disk(1);
  LossyVfs lossy("full", disk);
  const LogVfs vfs("full");
  const auto db = made_at("/belfry.db", vfs.name());
  disk.plan(DiskFault::full, /*ordinal=*/1);
  db->execute("BEGIN");
  db->run(kInsert, "lost");
  db->run("COMMIT");
  ASSERT_TRUE(db->failed());
  db->take_failure();
  if (db->in_transaction()) db->run("ROLLBACK");
  EXPECT_EQ(db->value(kCount), 0);
}

}  // namespace
}  // namespace belfry
