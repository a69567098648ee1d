// SPDX-License-Identifier: MIT

#include "store/sqlite_upkeep.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "store/key_file.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr char kCanary[] = "canary-51d0c2aa";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class SqliteUpkeepTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return scratch_.path() / "data"; }
  std::filesystem::path other_directory() const { return scratch_.path() / "other"; }
  std::filesystem::path backup() const { return scratch_.path() / "backup.db"; }

  static std::unique_ptr<SqliteStore> open(const std::filesystem::path& directory) {
    auto opened = SqliteStore::open({.directory = directory});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  // A store with a collection and two jobs, one of which waits and one has a secret.
  std::unique_ptr<SqliteStore> open_filled() {
    auto store = open(directory());
    EXPECT_TRUE(store->commit(
        {PutCollection{sample_collection()},
         PutJob{waiting(sample_job(1, "a"), at(1)), kGenAbsent, {sample_history(1, 1)}},
         PutJob{with_secret(sample_job(2, "b"), kCanary), kGenAbsent, {}}}));
    return store;
  }

  void tamper(const std::string& sql) {
    const auto db = Connection::open(database_path(directory()).native(), OpenMode::existing, "");
    ASSERT_TRUE(db);
    (*db)->execute(sql);
    ASSERT_FALSE((*db)->failed()) << (*db)->take_failure().error.message;
  }

  std::string problems() {
    const auto found = check_store(directory());
    if (!found) return "error: " + found.error().message;
    std::string out;
    for (const std::string& problem : found->problems) out += problem + '\n';
    return out;
  }

  ScratchDirectory scratch_;
};

TEST_F(SqliteUpkeepTest, ASoundStoreHasNoProblemsWhileAServerRunsAndAfterwards) {
  auto store = open_filled();
  EXPECT_EQ(problems(), "");
  store.reset();
  EXPECT_EQ(problems(), "");
  EXPECT_TRUE(open(directory()));
}

struct Damage {
  const char* name;
  const char* sql;
  const char* found;
};

class SqliteDamageTest : public SqliteUpkeepTest, public testing::WithParamInterface<Damage> {};

TEST_P(SqliteDamageTest, IsFound) {
  open_filled().reset();
  tamper(GetParam().sql);
  EXPECT_TRUE(contains(problems(), GetParam().found)) << problems();
}

const Damage kDamages[] = {
    {"NoProgress", "DELETE FROM progress WHERE job = 1", "jobs without their progress"},
    {"NoJob", "DELETE FROM job WHERE id = 1", "rows of progress without their job"},
    {"WrongCollection", "UPDATE progress SET collection = 9 WHERE job = 1", "a wrong collection"},
    {"NoCollection", "DELETE FROM collection", "jobs without their collection"},
    {"WrongCount", "UPDATE collection SET jobs = 7", "count their jobs wrongly"},
    {"WrongName", "UPDATE job SET folded = 'x' WHERE id = 1", "jobs under a wrong name"},
    {"WrongCollectionName", "UPDATE collection SET name = 'x'", "collections under a wrong name"},
    {"WaitsAtNoTime", "UPDATE progress SET due = NULL WHERE job = 1", "at no time"},
    {"WaitsForNothing", "UPDATE progress SET due = 5 WHERE job = 2", "wait for nothing"},
    {"RemovedAndThere", "INSERT INTO removed VALUES (1)", "there and removed"},
    {"StrayHistory", "UPDATE history SET job = 99", "histories of jobs that never were"},
    {"NoState", "UPDATE progress SET state = 9 WHERE job = 1", "a column holds 9"},
    {"NoDefinition", "UPDATE job SET definition = '{' WHERE id = 1", "was not written by Belfry"},
    {"ForeignSecret", "UPDATE job SET secrets = zeroblob(60) WHERE id = 2",
     "was not written by Belfry"},
    {"StaleIndex",
     "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(due,', '(seq,') "
     "WHERE name = 'progress_due'",
     "progress_due"},
};

INSTANTIATE_TEST_SUITE_P(Every, SqliteDamageTest, testing::ValuesIn(kDamages),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(SqliteUpkeepTest, APageThatWasOverwrittenIsFound) {
  open_filled().reset();
  std::fstream file(database_path(directory()), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5 * 4096);
  file << std::string(4096, '\x5a');
  file.close();
  EXPECT_NE(problems(), "");
}

TEST_F(SqliteUpkeepTest, AMissingKeyIsFound) {
  open_filled().reset();
  std::filesystem::remove(key_path(directory()));
  EXPECT_TRUE(contains(problems(), key_path(directory()).native() + " is missing"));
  EXPECT_TRUE(contains(problems(), "--key-file")) << "it may stand elsewhere";
  EXPECT_TRUE(contains(problems(), "was not verified"));
}

TEST_F(SqliteUpkeepTest, AKeyThatSealedNothingHereIsFound) {
  open_filled().reset();
  std::filesystem::remove(key_path(directory()));
  ASSERT_TRUE(make_key_file(key_path(directory())));
  EXPECT_TRUE(contains(problems(), "put the right one there, or name it with --key-file"));
}

// As an installed service has it: the key stands elsewhere, apart from the store.
TEST_F(SqliteUpkeepTest, AKeyThatStandsElsewhereIsFoundAndNamed) {
  open_filled().reset();
  const auto elsewhere = scratch_.path() / "elsewhere.key";
  std::filesystem::rename(key_path(directory()), elsewhere);
  EXPECT_TRUE(check_store(directory(), elsewhere).value().problems.empty());
  EXPECT_TRUE(contains(back_up_store(directory(), backup(), elsewhere).value(), elsewhere));
  const auto restored = restore_store(backup(), other_directory(), elsewhere);
  EXPECT_FALSE(contains(restored.value(), "Put the key"));
}

TEST_F(SqliteUpkeepTest, WhereThereIsNoDatabaseCheckingSaysSo) {
  EXPECT_TRUE(contains(problems(), "there is no database"));
  EXPECT_FALSE(std::filesystem::exists(directory()));
}

TEST_F(SqliteUpkeepTest, ABackupOfARunningServerIsWholeAndGoesOnItsOwn) {
  auto store = open_filled();
  const auto said = back_up_store(directory(), backup());
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_TRUE(contains(*said, key_path(directory()).native())) << *said;
  EXPECT_TRUE(contains(*said, "not in it")) << *said;
  EXPECT_TRUE(contains(*said, ": 2 jobs in 1 job collection.")) << *said;
  struct stat status {};
  ASSERT_EQ(::stat(backup().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_FALSE(contains(content_of(backup()), kCanary));
  EXPECT_FALSE(contains(content_of(backup()), content_of(key_path(directory())).substr(0, 32)));

  // What comes after the backup is not in it.
  ASSERT_TRUE(store->commit({PutJob{sample_job(3, "c"), kGenAbsent, {}}}));
  const auto restored = restore_store(backup(), other_directory());
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(contains(*restored, key_path(other_directory()).native())) << *restored;
  EXPECT_TRUE(contains(*restored, ": 2 jobs in 1 job collection.")) << *restored;
  std::filesystem::copy_file(key_path(directory()), key_path(other_directory()));
  const auto other = open(other_directory());
  EXPECT_EQ(described(*other->job({collection_key(), "a"}).value()),
            described(*store->job({collection_key(), "a"}).value()));
  EXPECT_EQ(other->job({collection_key(), "b"}).value()->definition,
            with_secret(sample_job(2, "b"), kCanary).definition);
  EXPECT_FALSE(other->job({collection_key(), "c"}).value());
  EXPECT_EQ(other->due({5}).value().size(), 1u);
  EXPECT_TRUE(check_store(other_directory()).value().problems.empty());
}

TEST_F(SqliteUpkeepTest, ABackupNeverOverwrites) {
  const auto store = open_filled();
  std::ofstream(backup()) << "dear";
  EXPECT_FALSE(back_up_store(directory(), backup()));
  EXPECT_EQ(content_of(backup()), "dear");
  EXPECT_FALSE(back_up_store(other_directory(), scratch_.path() / "new.db"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "new.db"));
}

TEST_F(SqliteUpkeepTest, RestoringTouchesNeitherADatabaseNorARunningServer) {
  auto store = open_filled();
  ASSERT_TRUE(back_up_store(directory(), backup()));
  const auto running = restore_store(backup(), directory());
  ASSERT_FALSE(running);
  EXPECT_TRUE(contains(running.error().message, "in use")) << running.error().message;
  store.reset();
  const auto there = restore_store(backup(), directory());
  ASSERT_FALSE(there);
  EXPECT_TRUE(contains(there.error().message, "there already")) << there.error().message;
  EXPECT_EQ(problems(), "");
}

// The log of another database would be played into the restored one.
TEST_F(SqliteUpkeepTest, RestoringBesideAForeignLogIsRefused) {
  open_filled().reset();
  ASSERT_TRUE(back_up_store(directory(), backup()));
  std::filesystem::create_directory(other_directory());
  std::ofstream(other_directory() / "belfry.db-wal") << "old";
  EXPECT_FALSE(restore_store(backup(), other_directory()));
}

// In the words of `belfry check`: it is the key that is wrong, and not the backup.
TEST_F(SqliteUpkeepTest, WithAWrongKeyNothingIsRestored) {
  open_filled().reset();
  ASSERT_TRUE(back_up_store(directory(), backup()));
  const auto wrong = scratch_.path() / "wrong.key";
  ASSERT_TRUE(make_key_file(wrong));
  const auto refused = restore_store(backup(), other_directory(), wrong);
  ASSERT_FALSE(refused);
  const auto found = check_store(directory(), wrong);
  EXPECT_TRUE(found.value().problems.front().starts_with(refused.error().message));
  EXPECT_TRUE(contains(refused.error().message, "put the right one there"));
  std::filesystem::remove(other_directory() / "belfry.lock");  // as every command leaves it
  EXPECT_TRUE(std::filesystem::is_empty(other_directory()));
}

TEST_F(SqliteUpkeepTest, AnUnsoundBackupIsNotRestored) {
  open_filled().reset();
  const auto refused = [&](const std::string& why) {
    const auto restored = restore_store(backup(), other_directory());
    ASSERT_FALSE(restored);
    EXPECT_TRUE(contains(restored.error().message, why)) << restored.error().message;
    EXPECT_FALSE(std::filesystem::exists(database_path(other_directory())));
  };
  refused("cannot open");
  std::ofstream(backup()) << "not a database, however long one looks at it";
  refused("damaged");

  std::filesystem::remove(backup());
  tamper("UPDATE collection SET jobs = 7");
  ASSERT_TRUE(back_up_store(directory(), backup()));
  refused("count their jobs wrongly");

  std::filesystem::remove(backup());
  tamper("UPDATE collection SET jobs = 2");
  ASSERT_TRUE(back_up_store(directory(), backup()));
  std::string bytes = content_of(backup());
  std::ofstream(backup(), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  refused("");

  std::filesystem::remove(backup());
  tamper(fmt::format("PRAGMA user_version = {}", schema_version() + 1));
  std::filesystem::copy_file(database_path(directory()), backup());
  refused("newer Belfry");
}

}  // namespace
}  // namespace belfry
