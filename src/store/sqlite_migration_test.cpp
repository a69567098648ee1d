// SPDX-License-Identifier: MIT
//
// An upgrade: a store that an older server wrote opens, with everything that was in it.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "store/schema_samples.h"
#include "store/sqlite_audit.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

// One schema of the past.
class SqliteMigrationTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory());
    std::ofstream(directory() / "secret.key") << kSchemaSampleKey << '\n';
    std::filesystem::permissions(directory() / "secret.key", std::filesystem::perms::owner_read);
    const auto db = connect(directory(), OpenMode::create);
    for (int i = 0; i < GetParam(); ++i) db->execute(kSchemaSamples[i]);
    db->execute(fmt::format("PRAGMA user_version = {}", GetParam()));
    ASSERT_FALSE(db->failed()) << db->take_failure().error.message;
  }

  static std::unique_ptr<Connection> connect(const std::filesystem::path& directory,
                                             OpenMode mode) {
    return *Connection::open(database_path(directory).native(), mode, "");
  }

  static std::unique_ptr<SqliteStore> open(const std::filesystem::path& directory) {
    auto opened = SqliteStore::open({.directory = directory});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  static std::string schema_in(const std::filesystem::path& directory) {
    const auto db = connect(directory, OpenMode::read_only);
    std::string all;
    Rows rows = db->query("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name");
    while (rows.next()) {
      all += rows.text() + ": ";
      all += rows.text() + '\n';
    }
    return all;
  }

  std::filesystem::path directory() const { return scratch_.path() / "data"; }
  std::filesystem::path new_directory() const { return scratch_.path() / "new"; }
  static JobKey key(const std::string& name) { return {collection_key(), name}; }

 private:
  ScratchDirectory scratch_;
};

TEST_P(SqliteMigrationTest, KeepsJobsWithTheirSecretsAndHistory) {
  const auto store = open(directory());
  ASSERT_TRUE(store);
  const auto hourly = store->job(key("hourly"));
  ASSERT_TRUE(hourly && *hourly) << hourly.error().message;
  const auto& action = std::get<HttpAction>((*hourly)->definition->action.what);
  EXPECT_EQ(std::get<BasicAuthentication>(*action.authentication).password.reveal(),
            kSchemaSamplePassword);
  ASSERT_TRUE((*hourly)->next);
  EXPECT_EQ(format_instant((*hourly)->next->due), "2030-01-01T02:00:00Z");
  EXPECT_EQ((*store->job(key("once")))->state, JobState::completed);
  for (const char* name : {"hourly", "once"}) {
    HistoryQuery query;
    query.job = (*store->job(key(name)))->id;
    query.limit = 10;
    const auto rows = store->history(query);
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->size(), 1U) << name;
    EXPECT_EQ(rows->front().message, fmt::format("Http Action - {}", name));
  }
}

TEST_P(SqliteMigrationTest, CountsAndFindsWhatIsDueAsBefore) {
  const auto store = open(directory());
  ASSERT_TRUE(store);
  const auto counts = store->count_jobs_by_state();
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(*counts, (JobCounts{.enabled = 1, .completed = 1}));
  DueQuery query{.limit = 10, .subscriptions = {folded(collection_key().subscription)}};
  for (const DueOf of : {DueOf::them, DueOf::others}) {
    query.of = of;
    const auto due = store->due(query);
    ASSERT_TRUE(due) << due.error().message;
    EXPECT_EQ(due->size(), of == DueOf::them ? 1U : 0U);
  }
}

// Or it would be begun a second time, under another id.
TEST_P(SqliteMigrationTest, WhatIsOnItsWayStaysSo) {
  // It had a column for it before it had a table.
  connect(directory(), OpenMode::existing)
      ->execute(GetParam() < 6 ? "UPDATE progress SET started = due, covered_until = due WHERE due "
                                 "IS NOT NULL"
                               : "INSERT INTO started(job, at, covered_until) SELECT job, due, due "
                                 "FROM progress WHERE due IS NOT NULL");
  const auto store = open(directory());
  ASSERT_TRUE(store);
  const auto started = store->started(10);
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_EQ(started->size(), 1U);
  const Job& job = started->front();
  EXPECT_EQ(job.next->started, job.next->due);
  EXPECT_EQ(job.covered_until, job.next->due);
  EXPECT_EQ(store->due({.limit = 10})->size(), 0U);
}

// They are opened by the server that runs then (docs/limits.md).
TEST_P(SqliteMigrationTest, NamesTheJobsWhoseCertificatesWereNeverOpened) {
  connect(directory(), OpenMode::existing)
      ->execute(
          "UPDATE job SET definition = json_set(definition, '$.action.request.authentication',"
          " json('{\"type\":\"ClientCertificate\"}')) WHERE name = 'hourly'");
  const auto store = open(directory());
  ASSERT_TRUE(store);
  const auto jobs = store->unopened_jobs(JobId{0}, 10);
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().key.name, "hourly");
  ASSERT_TRUE(store->strike_unopened(jobs->front().id));
  EXPECT_EQ(store->unopened_jobs(JobId{0}, 10)->size(), 0U);
}

TEST_P(SqliteMigrationTest, KeepsTokensAndTheChainOfTheAuditLog) {
  const auto store = open(directory());
  ASSERT_TRUE(store);
  const auto token = store->token("d2c214a268b85721");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->has_value(), GetParam() >= 2) << "before, there were none";
  EXPECT_TRUE(store->revoke_token("d2c214a268b85721", {}));
  const auto findings = verify_audit(directory(), std::nullopt);
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->problems, std::vector<std::string>{});
}

// What targets repeated was written down as it came.
TEST_P(SqliteMigrationTest, TheSecretsThatTargetsRepeatedAreTakenOutOfTheHistory) {
  connect(directory(), OpenMode::existing)
      ->execute(
          fmt::format("UPDATE history SET message = 'you sent ' || hex(zeroblob(4000)) || '{}' "
                      "WHERE job = (SELECT id FROM job WHERE name = 'hourly')",
                      kSchemaSamplePassword));
  EXPECT_NE(*upkeep_left(directory()), "") << "before the new server runs";
  auto store = open(directory());
  ASSERT_TRUE(store);
  EXPECT_NE(*upkeep_left(directory()), "");
  const SweepLimits a_little{.history_before = kFirstInstant,
                             .ended_before = kFirstInstant,
                             .limit = 100,
                             .echoes_max = 1};
  SweepLimits nothing_of_it = a_little;
  nothing_of_it.echoes_max = 0;
  while (*store->sweep(nothing_of_it) > 0) continue;  // which seals, and makes MACs
  EXPECT_NE(*upkeep_left(directory()), "") << "not now";
  int slices = 0;
  while (*store->sweep(a_little) > 0) ++slices;
  EXPECT_GT(slices, 2) << "a little at a time";
  EXPECT_EQ(*upkeep_left(directory()), "");
  const auto hourly = store->job(key("hourly"));
  const auto rows =
      store->history({.job = (*hourly)->id, .status = {}, .before = {}, .skip = 0, .limit = 10});
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_TRUE(rows->front().message.ends_with("0***")) << rows->front().message.substr(0, 40);
  store.reset();
  std::ifstream file(database_path(directory()), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.find(kSchemaSamplePassword), std::string::npos) << "in a page that became free";
}

// Otherwise a server that was upgraded would be another than one that was installed.
TEST_P(SqliteMigrationTest, LeadsToTheSchemaOfANewStore) {
  ASSERT_TRUE(open(directory()));
  ASSERT_TRUE(open(new_directory()));
  EXPECT_EQ(schema_in(directory()), schema_in(new_directory()));
}

// As `belfry check` and `belfry restore` see it, which may be done before the new server runs.
TEST_P(SqliteMigrationTest, IsSoundBeforeItToo) {
  const auto problems = check_store(directory());
  ASSERT_TRUE(problems) << problems.error().message;
  EXPECT_EQ(problems->problems, std::vector<std::string>{});
  const auto backup = directory().parent_path() / "backup";
  ASSERT_TRUE(back_up_store(directory(), backup));
  const auto restored = restore_store(backup, new_directory());
  EXPECT_TRUE(restored) << restored.error().message;
}

TEST_P(SqliteMigrationTest, LeavesASoundStore) {
  ASSERT_TRUE(open(directory()));
  const auto problems = check_store(directory());
  ASSERT_TRUE(problems) << problems.error().message;
  EXPECT_EQ(problems->problems, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(FromSchema, SqliteMigrationTest, testing::Range(1, schema_version()));

// Whoever adds a schema writes down what the one before looked like, with something in it.
TEST(SchemaSamples, AreThereForEverySchemaOfThePast) {
  EXPECT_GE(std::size(kSchemaSamples), static_cast<std::size_t>(schema_version() - 1));
}

}  // namespace
}  // namespace belfry
