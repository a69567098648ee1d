// SPDX-License-Identifier: MIT
//
// What the SQLite store does besides the contract: its directory, its lock, its key, its
// threads. Backups and checks are in sqlite_upkeep_test.cpp.

#include "store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "store/sqlite_schema.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class SqliteStoreTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return scratch_.path() / "data"; }

  std::unique_ptr<SqliteStore> open() {
    auto opened = SqliteStore::open({.directory = directory()});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  // Why the directory does not open.
  std::string refusal() {
    const auto opened = SqliteStore::open({.directory = directory()});
    return opened ? std::string("opened") : opened.error().message;
  }

  // As somebody would who opens the file without Belfry.
  void tamper(const std::string& sql) {
    const auto db = Connection::open(database_path(directory()).native(), OpenMode::existing, "");
    ASSERT_TRUE(db);
    (*db)->execute(sql);
    ASSERT_FALSE((*db)->failed()) << (*db)->take_failure().error.message;
  }

  static void fill(Store& store) {
    ASSERT_TRUE(store.commit({PutCollection{sample_collection()},
                              PutJob{sample_job(1, "plain"), kGenAbsent, {sample_history(1, 1)}}}));
  }

  static void put_secret(Store& store, std::int64_t id, const std::string& secret) {
    const Job job = with_secret(sample_job(id, fmt::format("job{}", id)), secret);
    ASSERT_TRUE(store.commit({PutJob{job, kGenAbsent, {}}}));
  }

  ScratchDirectory scratch_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST_F(SqliteStoreTest, KeepsEverythingWhenItIsOpenedAgain) {
  {
    const auto store = open();
    fill(*store);
    put_secret(*store, 2, "hidden");
  }
  const auto store = open();
  EXPECT_EQ(described(*store->collection(collection_key()).value()),
            described(sample_collection()));
  EXPECT_EQ(described(*store->job({collection_key(), "plain"}).value()),
            described(sample_job(1, "plain")));
  EXPECT_EQ(store->job({collection_key(), "job2"}).value()->definition,
            with_secret(sample_job(2, "job2"), "hidden").definition);
}

// SQLite would count the memory of all threads under one lock. It does where it was asked anything
// before it was told not to, and says nothing of it.
// By it whoever watches the engine tells a step that is long from one that hangs.
TEST_F(SqliteStoreTest, TellsHowFarALargeCommitIs) {
  const auto store = open();
  fill(*store);
  EXPECT_EQ(store->writes_tried(), 2U);
  put_secret(*store, 2, "hidden");
  EXPECT_EQ(store->writes_tried(), 3U);
}

TEST_F(SqliteStoreTest, ThreadsDoNotMeetToCountMemory) {
  const auto store = open();
  fill(*store);
  EXPECT_EQ(sqlite3_memory_used(), 0);
}

TEST_F(SqliteStoreTest, ItsFilesAreItsOwnersAlone) {
  const auto store = open();
  fill(*store);
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0077, 0u) << entry.path();
  }
  struct stat status {};
  ASSERT_EQ(::stat(directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(SqliteStoreTest, ASecondServerIsRefusedAndToldWhoHasTheDirectory) {
  auto store = open();
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, directory().native())) << said;
  EXPECT_TRUE(contains(said, fmt::format("process {}", ::getpid()))) << said;
  store.reset();
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(SqliteStoreTest, ADatabaseOfANewerBelfryIsRefusedAndLeftAsItIs) {
  open().reset();
  tamper(fmt::format("PRAGMA user_version = {}", schema_version() + 1));
  const std::string before = content_of(database_path(directory()));
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "newer Belfry")) << said;
  EXPECT_TRUE(contains(said, database_path(directory()).native())) << said;
  EXPECT_EQ(content_of(database_path(directory())), before);
}

TEST_F(SqliteStoreTest, AFileThatIsNotOursIsRefused) {
  std::filesystem::create_directory(directory());
  {
    const auto db = Connection::open(database_path(directory()).native(), OpenMode::create, "");
    (*db)->execute("CREATE TABLE recipes(name TEXT)");
  }
  EXPECT_TRUE(contains(refusal(), "not a database of Belfry"));
  std::ofstream(database_path(directory()))
      << "Dear diary, today I learnt nothing at all. " << std::string(4096, '.');
  EXPECT_TRUE(contains(refusal(), "damaged"));
}

// A new key would make every secret unreadable, and nobody would notice until a job fires.
TEST_F(SqliteStoreTest, NoKeyIsMadeWhereSecretsAreSealedAlready) {
  {
    const auto store = open();
    fill(*store);
    put_secret(*store, 2, "hidden");
  }
  std::filesystem::remove(key_path(directory()));
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, key_path(directory()).native())) << said;
  EXPECT_TRUE(contains(said, "missing")) << said;
  EXPECT_FALSE(std::filesystem::exists(key_path(directory())));
}

// Its rows have their MACs by it, secrets or not.
TEST_F(SqliteStoreTest, NoKeyIsMadeAnewForAStoreThatIsThere) {
  open().reset();
  std::filesystem::remove(key_path(directory()));
  EXPECT_TRUE(contains(refusal(), "missing")) << refusal();
}

TEST_F(SqliteStoreTest, AnotherKeyIsRefusedAtTheStart) {
  {
    const auto store = open();
    fill(*store);
    put_secret(*store, 2, "hidden");
  }
  std::ofstream(key_path(directory())) << std::string(64, 'a') << '\n';
  EXPECT_TRUE(contains(refusal(), "put the right one there")) << refusal();
}

TEST_F(SqliteStoreTest, AKeyFileThatOthersMayReadIsRefused) {
  open().reset();
  ::chmod(key_path(directory()).c_str(), 0644);
  EXPECT_TRUE(contains(refusal(), "chmod 600"));
}

// The secret in every field that has one.
std::vector<Job> jobs_with_canaries(const std::string& canary) {
  std::vector<Action> actions(6);
  actions[0] = with_secret(sample_job(1, "x"), canary).definition->action;
  auto& basic = std::get<HttpAction>(actions[0].what);
  basic.secret_headers = {{"X-Api-Key", Secret(canary)}, {"X-Mine", Secret(canary)}};
  basic.named_secret = {"X-Mine"};
  HttpAction certificate;
  certificate.uri = "https://example.com";
  certificate.method = "GET";
  certificate.authentication = ClientCertificate{.pfx = Secret(canary),
                                                 .password = Secret(canary),
                                                 .thumbprint = "AB",
                                                 .expiration = at(0),
                                                 .subject_name = "CN=x"};
  actions[1].what = certificate;
  HttpAction oauth = certificate;
  oauth.authentication = ActiveDirectoryOAuth{
      .tenant = "t", .audience = "a", .client_id = "c", .secret = Secret(canary)};
  actions[2].what = oauth;
  actions[3].what = StorageQueueAction{
      .storage_account = "s", .queue_name = "q", .sas_token = Secret(canary), .message = "m"};
  ServiceBusMessage message;
  message.service_namespace = "ns";
  message.sas_key_name = "n";
  message.sas_key = Secret(canary);
  actions[4].what = ServiceBusQueueAction{.queue_name = "q", .message = message};
  actions[5].what = ServiceBusTopicAction{.topic_path = "t", .message = message};
  std::vector<Job> out;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    Job job = sample_job(static_cast<std::int64_t>(100 + i), fmt::format("canary{}", i));
    job.definition.edit().action = actions[i];
    job.definition.edit().error_action = actions[(i + 1) % actions.size()];
    out.push_back(job);
  }
  return out;
}

TEST_F(SqliteStoreTest, NoSecretStandsInAnyOfItsFiles) {
  const std::string canary = "canary-b7f3c1d9";
  const auto store = open();
  fill(*store);
  for (const Job& job : jobs_with_canaries(canary)) {
    ASSERT_TRUE(store->commit({PutJob{job, kGenAbsent, {}}}));
    EXPECT_EQ(store->job(job.key).value()->definition, job.definition);
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    ++files;
    EXPECT_FALSE(contains(content_of(entry.path()), canary)) << entry.path();
    EXPECT_FALSE(contains(content_of(entry.path()), "Y2FuYXJ5")) << entry.path();  // in base64
  }
  EXPECT_GE(files, 5);  // the database, its log and index, the lock, the key
}

TEST_F(SqliteStoreTest, ReadersSeeWholeCommitsWhileTheWriterWrites) {
  const auto store = open();
  fill(*store);
  ASSERT_TRUE(store->commit({PutJob{sample_job(2, "twin"), kGenAbsent, {}}}));
  std::vector<std::thread> readers;
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto jobs = store->jobs({collection_key(), {}, "", 0, 10});
        if (!jobs || jobs->at(0).last_seq != jobs->at(1).last_seq) ++torn;
        const auto due = store->due({5});
        if (!due) ++torn;
      }
    });
  }
  for (int seq = 1; seq <= 200; ++seq) {
    ASSERT_TRUE(store->commit(
        {AdvanceJob{waiting(sample_job(1, "plain"), at(seq), seq), {sample_history(1, seq)}},
         AdvanceJob{waiting(sample_job(2, "twin"), at(seq), seq), {sample_history(2, seq)}}}));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

// More threads than connections: they wait for one another, and none fails.
TEST_F(SqliteStoreTest, MoreReadersThanConnectionsAllGetTheirTurn) {
  const auto store = open();
  fill(*store);
  std::vector<std::thread> readers;
  std::atomic<int> answered = 0;
  for (std::size_t i = 0; i < 2 * kReadersMax; ++i) {
    readers.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        if (store->job({collection_key(), "plain"}).value()) ++answered;
      }
    });
  }
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(answered, static_cast<int>(2 * kReadersMax * 20));
}

// History and the job's advance are one transaction (docs/invariants.md, 3).
// What the engine looks up for a step it looks up in one transaction, which must neither keep
// others from writing nor hide what they wrote.
TEST_F(SqliteStoreTest, TheThreadThatCommitsSeesWhatOthersWroteSinceItRead) {
  const auto store = open();
  fill(*store);
  Token token;
  token.id = "t1";
  EXPECT_FALSE(store->token(token.id).value());
  std::thread([&] { EXPECT_TRUE(store->add_token(token, {})); }).join();
  EXPECT_TRUE(store->token(token.id).value());
  EXPECT_TRUE(store->sweep({.history_before = {}, .ended_before = {}, .limit = 1}));
  EXPECT_TRUE(store->commit({PutJob{sample_job(2, "new"), kGenAbsent, {}}}));
  EXPECT_TRUE(store->job({collection_key(), "new"}).value());
}

TEST_F(SqliteStoreTest, AStatementThatFailsUndoesTheWholeBatch) {
  const auto store = open();
  fill(*store);
  tamper("ALTER TABLE history RENAME TO elsewhere");
  const Job advanced = waiting(sample_job(1, "plain"), at(5));
  const std::vector<Write> batch = {PutJob{sample_job(2, "new"), kGenAbsent, {}},
                                    AdvanceJob{advanced, {sample_history(1, 2)}},
                                    PutJob{sample_job(3, "newer"), kGenAbsent, {}}};
  const auto failed = store->commit(batch);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(store->job({collection_key(), "new"}).value());
  EXPECT_FALSE(store->job({collection_key(), "newer"}).value());
  EXPECT_TRUE(store->due({9}).value().empty());
  tamper("ALTER TABLE elsewhere RENAME TO history");
  EXPECT_TRUE(store->commit(batch));
  EXPECT_EQ(store->due({9}).value().size(), 1u);
}

class SqliteLogTest : public SqliteStoreTest, public testing::WithParamInterface<Checkpoints> {};

TEST_P(SqliteLogTest, TheLogDoesNotGrowWithTheNumberOfCommits) {
  constexpr int kPages = 64;
  auto opened = SqliteStore::open(
      {.directory = directory(), .checkpoint_pages = kPages, .checkpoints = GetParam()});
  ASSERT_TRUE(opened);
  Store& store = **opened;
  fill(store);
  for (int seq = 2; seq <= 2000; ++seq) {
    ASSERT_TRUE(store.commit({AdvanceJob{sample_job(1, "plain"), {sample_history(1, seq)}}}));
    ASSERT_TRUE(store.job({collection_key(), "plain"}));  // as the engine does, between commits
  }
  const auto log = std::filesystem::file_size(database_path(directory()).native() + "-wal");
  // Each commit adds about five pages; without a checkpoint there would be ten thousand. How far a
  // thread of its own is behind with copying them is up to the machine.
  const bool in_commits = GetParam() == Checkpoints::in_commits;
  const std::uintmax_t pages_max = in_commits ? kPages * kLogTooLong * 2 : 2'000;
  EXPECT_LT(log, 4096 * pages_max);
}

INSTANTIATE_TEST_SUITE_P(Both, SqliteLogTest,
                         testing::Values(Checkpoints::in_background, Checkpoints::in_commits),
                         [](const auto& tested) {
                           return tested.param == Checkpoints::in_commits ? "InCommits"
                                                                          : "InBackground";
                         });

}  // namespace
}  // namespace belfry
