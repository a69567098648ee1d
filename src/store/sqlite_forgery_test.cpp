// SPDX-License-Identifier: MIT
//
// Somebody who can write the files of a store, and has not its key, changes rows. Whatever decides
// who may do what is found when the store is opened, a definition when it is read, all of it by
// `belfry check` and `belfry restore`.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "store/key_file.h"
#include "store/key_upkeep.h"
#include "store/schema_samples.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr std::int64_t kJobs = 5;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Token sample_token(const std::string& id, Role role) {
  Token token;
  token.id = id;
  token.name = "ci";
  token.secret_hash = std::string(64, 'a');
  token.assignments = {{role, Scope{}}};
  token.created = at(0);
  return token;
}

class SqliteForgeryTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return scratch_.path() / "data"; }

  Result<std::unique_ptr<SqliteStore>> try_open() {
    return SqliteStore::open({.directory = directory()});
  }
  std::unique_ptr<SqliteStore> open() {
    auto opened = try_open();
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  static JobKey key(std::int64_t id) { return {collection_key(), fmt::format("job{}", id)}; }

  // All due at once; each with a secret, the same destination, and an error action with another.
  static Job job(std::int64_t id) {
    Job made =
        waiting(with_secret(sample_job(id, key(id).name), fmt::format("secret {}", id)), at(1));
    Action error = made.definition->action;
    std::get<BasicAuthentication>(*std::get<HttpAction>(error.what).authentication).password =
        Secret(fmt::format("error {}", id));
    made.definition.edit().error_action = error;
    return made;
  }

  void fill() {
    const auto store = open();
    std::vector<Write> batch = {PutCollection{sample_collection()}};
    for (std::int64_t id = 1; id <= kJobs; ++id) batch.push_back(PutJob{job(id), kGenAbsent, {}});
    ASSERT_TRUE(store->commit(batch));
    ASSERT_TRUE(store->add_token(sample_token("reader", Role::reader), {}));
  }

  void tamper(const std::string& sql) {
    const auto db = Connection::open(database_path(directory()).native(), OpenMode::existing, "");
    ASSERT_TRUE(db);
    (*db)->execute(sql);
    ASSERT_FALSE((*db)->failed()) << (*db)->take_failure().error.message;
  }

  StoreFindings found() {
    auto findings = check_store(directory());
    if (!findings) ADD_FAILURE() << findings.error().message;
    return findings ? *std::move(findings) : StoreFindings{};
  }

  void expect_found(const std::string& part) {
    const auto problems = found().problems;
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(found().without_mac, 0) << "which is for stores of version 0.1";
    EXPECT_TRUE(contains(problems.front(), part)) << problems.front();
    // And nobody takes it for a backup.
    const auto backup = scratch_.path() / "backup.db";
    ASSERT_TRUE(back_up_store(directory(), backup));
    const auto restored =
        restore_store(backup, scratch_.path() / "restored", key_path(directory()));
    ASSERT_FALSE(restored);
    EXPECT_TRUE(contains(restored.error().message, part)) << restored.error().message;
  }

  ScratchDirectory scratch_;
};

struct Forgery {
  const char* name;
  const char* sql;
  const char* found;
};

// What decides over access and money: the store is not opened with it.
class SqliteForgedAccessTest : public SqliteForgeryTest,
                               public testing::WithParamInterface<Forgery> {};

TEST_P(SqliteForgedAccessTest, IsFoundAtTheStartByCheckAndByRestore) {
  fill();
  EXPECT_EQ(found().problems, std::vector<std::string>{});
  tamper(GetParam().sql);
  const auto refused = try_open();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(contains(refused.error().message, GetParam().found)) << refused.error().message;
  expect_found(GetParam().found);
}

const Forgery kForgedAccess[] = {
    {"TokenOfNobody",
     R"(INSERT INTO token(id, name, secret_hash, assignments, created)
        VALUES ('evil', 'x', 'hash', '[{"role":"Owner","scope":"/"}]', 0))",
     "the token evil was not written by Belfry"},
    {"TokenWithAnothersMac",
     R"(INSERT INTO token(id, name, secret_hash, assignments, created, mac)
        SELECT 'evil', name, secret_hash, assignments, created, mac FROM token)",
     "the token evil was not written by Belfry"},
    {"MoreRights", R"(UPDATE token SET assignments = '[{"role":"Owner","scope":"/"}]')",
     "the token reader was not written by Belfry"},
    {"AnotherSecret", "UPDATE token SET secret_hash = 'hash'", "the token reader"},
    {"Quota", "UPDATE collection SET max_job_count = 1000000",
     "the job collection backups was not written by Belfry"},
    {"Frequency", "UPDATE collection SET max_interval = 1", "the job collection backups"},
    {"Plan", "UPDATE collection SET sku = 3", "the job collection backups"},
    {"State", "UPDATE collection SET state = 1", "the job collection backups"},
    {"AnothersName", "UPDATE collection SET folded = 's2/g/c'", "under a wrong name"},
    {"NoMac", "UPDATE collection SET mac = NULL", "its MAC is missing"},
    {"KeyForgotten", "DELETE FROM sealing WHERE key_id IN (SELECT min(key_id) FROM sealing)",
     "what the store says of itself"},
    {"Incomplete", "UPDATE seal SET complete = 0", "what the store says of itself"},
    {"NoSeal", "DELETE FROM seal", "what the store says of itself"},
};

INSTANTIATE_TEST_SUITE_P(Every, SqliteForgedAccessTest, testing::ValuesIn(kForgedAccess),
                         [](const auto& tested) { return tested.param.name; });

// Nor while it is open.
TEST_F(SqliteForgeryTest, ATokenThatIsForgedUnderARunningServerIsNone) {
  fill();
  const auto store = open();
  EXPECT_TRUE(store->token("reader"));
  tamper(kForgedAccess[0].sql);
  EXPECT_FALSE(store->token("evil"));
}

// A definition: that job alone stands still.
class SqliteForgedDefinitionTest : public SqliteForgeryTest,
                                   public testing::WithParamInterface<Forgery> {};

TEST_P(SqliteForgedDefinitionTest, IsNeitherShownNorSentAndTheOthersGoOn) {
  fill();
  tamper(GetParam().sql);
  const auto store = open();
  ASSERT_NE(store, nullptr);
  const auto forged = store->job(key(2));
  ASSERT_FALSE(forged);
  EXPECT_TRUE(contains(forged.error().message, GetParam().found)) << forged.error().message;
  for (const std::int64_t id : {1, 3, 4, 5}) {
    const auto other = store->job(key(id));
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ((*other)->definition, job(id).definition);
  }
  EXPECT_EQ(store->jobs({collection_key(), {}, "", 0, 100})->size(), 4U);
  EXPECT_EQ(store->due({.limit = 100})->size(), 4U);
  expect_found(GetParam().found);
}

const Forgery kForgedDefinitions[] = {
    {"AnotherHost",
     "UPDATE job SET definition = replace(definition, 'example.com', 'evil.example') WHERE id = 2",
     "its MAC does not fit"},
    {"AnothersSecrets",
     "UPDATE job SET secrets = (SELECT secrets FROM job WHERE id = 1) WHERE id = 2",
     "its MAC does not fit"},
    {"AnothersRow",
     R"(UPDATE job SET (definition, secrets, error_secrets, mac) =
        (SELECT definition, secrets, error_secrets, mac FROM job WHERE id = 1) WHERE id = 2)",
     "its MAC does not fit"},
    {"SecretsOfTheMainActionForTheErrorAction",
     "UPDATE job SET error_secrets = secrets WHERE id = 2", "its MAC does not fit"},
    {"NoSecrets", "UPDATE job SET secrets = NULL WHERE id = 2", "its MAC does not fit"},
    {"NoMac", "UPDATE job SET mac = NULL WHERE id = 2", "MAC is missing"},
    {"NoMacNorSecrets",
     "UPDATE job SET mac = NULL, secrets = NULL, error_secrets = NULL WHERE id = 2",
     "its MAC is missing"},
};

INSTANTIATE_TEST_SUITE_P(Every, SqliteForgedDefinitionTest, testing::ValuesIn(kForgedDefinitions),
                         [](const auto& tested) { return tested.param.name; });

// Else whoever may use the one would get the other.
TEST_F(SqliteForgeryTest, NamesThatWereSwappedLeadToNobodysJob) {
  fill();
  tamper(
      "UPDATE job SET folded = 'tmp' WHERE id = 1; UPDATE job SET folded = 'job1' WHERE id = 2;"
      "UPDATE job SET folded = 'job2' WHERE id = 1");
  const auto store = open();
  for (const std::int64_t id : {1, 2}) {
    EXPECT_FALSE(store->job(key(id)));
    EXPECT_FALSE(store->job_name(key(id)));
  }
  EXPECT_TRUE(store->job(key(3)));
}

// However many there are: pages are as full as they were asked to be.
TEST_F(SqliteForgeryTest, ForgedJobsInFrontHideNoneBehindThem) {
  fill();
  tamper("UPDATE job SET definition = '{}' WHERE id <= 3");
  const auto store = open();
  const auto due = store->due({.limit = 2});
  ASSERT_TRUE(due) << due.error().message;
  ASSERT_EQ(due->size(), 2U);
  EXPECT_EQ(due->front().id, JobId{4});
  const auto listed = store->jobs({collection_key(), {}, "", 0, 2});
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ(listed->front().id, JobId{4});
}

// A rotation gives every row the MAC of the new key, and does not make a forged one genuine.
TEST_F(SqliteForgeryTest, ARotationRenewsMacsAndLeavesWhatIsForged) {
  fill();
  tamper("UPDATE job SET definition = '{}' WHERE id = 2");
  const auto store = open();
  ASSERT_TRUE(rotate_key({directory()}));
  ASSERT_TRUE(store->renew_keys().value());
  while (store->sweep({kFirstInstant, kFirstInstant, 2}).value() > 0) continue;
  EXPECT_FALSE(store->job(key(2)));
  ASSERT_TRUE(drop_old_keys({directory()}));
  EXPECT_EQ(read_key_file(key_path(directory()))->size(), 2U) << "of the forged row";
  ASSERT_TRUE(store->commit({DeleteJob{JobId{2}, 1}}));
}

TEST_F(SqliteForgeryTest, AfterARotationTheNewKeyAloneWillDo) {
  fill();
  {
    const auto store = open();
    ASSERT_TRUE(rotate_key({directory()}));
    ASSERT_TRUE(store->renew_keys().value());
    while (store->sweep({kFirstInstant, kFirstInstant, 2}).value() > 0) continue;
    ASSERT_TRUE(drop_old_keys({directory()}));
  }
  EXPECT_EQ(read_key_file(key_path(directory()))->size(), 1U);
  EXPECT_EQ(found().problems, std::vector<std::string>{});
  const auto store = open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ((*store->job(key(1)))->definition, job(1).definition);
  EXPECT_TRUE(store->token("reader").value());
}

// What version 0.1 wrote is believed until all rows have a MAC, and not a moment longer.
class OlderStoreTest : public SqliteForgeryTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory());
    std::ofstream(key_path(directory())) << kSchemaSampleKey << '\n';
    std::filesystem::permissions(key_path(directory()), std::filesystem::perms::owner_read);
    const auto db = *Connection::open(database_path(directory()).native(), OpenMode::create, "");
    for (const char* sample : kSchemaSamples) db->execute(sample);
    db->execute(R"(
UPDATE job SET definition = replace(definition, '"method":"GET"',
  '"method":"GET","headers":{"X-Plain":"p","Authorization":"Bearer canary-7d1c"}')
WHERE name = 'once';
PRAGMA user_version = 7)");
    ASSERT_FALSE(db->failed()) << db->take_failure().error.message;
  }

  static std::size_t sweep(SqliteStore& store, std::size_t limit = 1000) {
    return store.sweep({kFirstInstant, kFirstInstant, limit}).value();
  }
};

TEST_F(OlderStoreTest, GetsItsMacsInSlicesAndThenDemandsThem) {
  EXPECT_EQ(found().without_mac, 0) << "there is no column for them";
  auto store = open();
  EXPECT_EQ(found().without_mac, 4);
  EXPECT_EQ(found().problems, std::vector<std::string>{});
  EXPECT_EQ(sweep(*store, 1), 1U);
  EXPECT_EQ(found().without_mac, 3);
  while (sweep(*store, 1) > 0) continue;
  EXPECT_EQ(found().without_mac, 0);
  EXPECT_EQ(found().problems, std::vector<std::string>{});
  tamper("UPDATE job SET mac = NULL, secrets = NULL, definition = '{}' WHERE name = 'once'");
  EXPECT_FALSE(store->job({collection_key(), "once"}));
  store.reset();
  store = open();
  EXPECT_FALSE(store->job({collection_key(), "once"}));
  EXPECT_TRUE(store->job({collection_key(), "hourly"}));
}

// A copy of a blob that is of today in a row without a MAC: nobody but the key's owner made it, but
// not for this.
TEST_F(OlderStoreTest, WhatIsSealedAsTodayIsNotBelievedWithoutAMac) {
  const auto store = open();
  Job made = **store->job({collection_key(), "hourly"});
  made.gen = 2;
  ASSERT_TRUE(store->commit({PutJob{made, 1, {}}}));
  tamper("UPDATE job SET mac = NULL WHERE name = 'hourly'");
  EXPECT_FALSE(store->job({collection_key(), "hourly"}));
}

TEST_F(OlderStoreTest, HeadersThatAreSecretNowAreSealed) {
  const auto document = [this] {
    const auto db = *Connection::open(database_path(directory()).native(), OpenMode::existing, "");
    Rows rows = db->query("SELECT definition FROM job WHERE name = 'once'");
    rows.next();
    return rows.text();
  };
  EXPECT_TRUE(contains(document(), "canary-7d1c"));
  auto store = open();
  const auto once = [&] {
    return std::get<HttpAction>((*store->job({collection_key(), "once"}))->definition->action.what);
  };
  const HttpAction before = once();
  ASSERT_EQ(before.secret_headers.size(), 1U);
  EXPECT_EQ(before.secret_headers[0].second.reveal(), "Bearer canary-7d1c");
  while (sweep(*store) > 0) continue;
  EXPECT_FALSE(contains(document(), "canary-7d1c")) << document();
  EXPECT_EQ(once(), before);
  store.reset();
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    std::ostringstream content;
    content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const bool copied_aside = contains(entry.path().filename(), "schema7");
    EXPECT_EQ(contains(content.str(), "canary-7d1c"), copied_aside) << entry.path();
  }
}

TEST_F(OlderStoreTest, IsCopiedAsideBeforeItIsChanged) {
  ASSERT_TRUE(open());
  const auto copy = directory() / "belfry.db.schema7";
  const auto db = *Connection::open(copy.native(), OpenMode::read_only, "");
  EXPECT_EQ(db->value("PRAGMA user_version"), 7);
  EXPECT_EQ(db->value("SELECT count(*) FROM job"), 2);
  // One that is there stays, and nothing else is copied when it is opened again.
  open().reset();
  EXPECT_FALSE(std::filesystem::exists(directory() / "belfry.db.schema8"));
}

}  // namespace
}  // namespace belfry
