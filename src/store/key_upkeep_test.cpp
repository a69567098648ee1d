// SPDX-License-Identifier: MIT
//
// Keys are changed while the store is open, and the power fails while they are.

#include "store/key_upkeep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <thread>

#include "store/durable_file.h"
#include "store/key_file.h"
#include "store/lossy_vfs.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr std::int64_t kJobs = 50;
constexpr std::size_t kSlice = 10;

class KeyUpkeepTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return scratch_.path() / "data"; }
  KeyPlace place() const { return {directory()}; }

  std::unique_ptr<SqliteStore> open(const std::string& vfs = "") {
    // On a disk of the tests the same happens at every run.
    const auto checkpoints = vfs.empty() ? Checkpoints::in_background : Checkpoints::in_commits;
    auto opened =
        SqliteStore::open({.directory = directory(), .vfs = vfs, .checkpoints = checkpoints});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  static Job job(std::int64_t id) {
    return with_secret(sample_job(id, fmt::format("job{}", id)), fmt::format("secret {}", id));
  }

  static void fill(Store& store) {
    std::vector<Write> batch = {PutCollection{sample_collection()}};
    for (std::int64_t id = 1; id <= kJobs; ++id) batch.push_back(PutJob{job(id), kGenAbsent, {}});
    ASSERT_TRUE(store.commit(batch));
  }

  // Every job's secret opens and is what it was.
  static void expect_all(Store& store) {
    const auto jobs = store.jobs({collection_key(), {}, "", 0, 1000});
    ASSERT_TRUE(jobs) << jobs.error().message;
    ASSERT_EQ(jobs->size(), static_cast<std::size_t>(kJobs));
    for (const Job& found : *jobs) {
      EXPECT_EQ(secrets_of(found.definition),
                secrets_of(job(static_cast<std::int64_t>(found.id)).definition));
    }
  }

  static std::size_t sweep(Store& store) {
    const auto swept = store.sweep({kFirstInstant, kFirstInstant, kSlice});
    EXPECT_TRUE(swept) << swept.error().message;
    return swept ? *swept : 0;
  }
  static int sweep_all(Store& store) {
    int slices = 0;
    while (sweep(store) > 0) ++slices;
    return slices;
  }

  std::vector<SealingKey> keys() const { return read_key_file(key_path(directory())).value(); }

  // What `belfry key list` says, without the ids.
  std::string listed() const {
    std::string text = list_keys(place()).value();
    for (const SealingKey& key : keys()) {
      const std::string id = shown_key_id(key.id());
      text.replace(text.find(id), id.size() + 2, "");
    }
    return text;
  }

  ScratchDirectory scratch_;
};

TEST_F(KeyUpkeepTest, ANewKeySealsEverythingAnewWhileTheStoreIsOpen) {
  const auto store = open();
  fill(*store);
  EXPECT_EQ(listed(), "seals        50 jobs' secrets");
  EXPECT_FALSE(store->renew_keys().value()) << "there is none";
  ASSERT_TRUE(rotate_key(place()));
  EXPECT_EQ(listed(), "is to seal   0 jobs' secrets\nopens        50 jobs' secrets");
  EXPECT_TRUE(store->renew_keys().value());
  EXPECT_FALSE(store->renew_keys().value()) << "taken up already";
  EXPECT_EQ(sweep(*store), kSlice);
  EXPECT_EQ(listed(), "seals        10 jobs' secrets\nopens        40 jobs' secrets");
  expect_all(*store);
  EXPECT_EQ(sweep_all(*store), 5);
  EXPECT_EQ(listed(), "seals        50 jobs' secrets\nis not used  0 jobs' secrets");
  expect_all(*store);
  ASSERT_TRUE(drop_old_keys(place()));
  EXPECT_EQ(listed(), "seals        50 jobs' secrets");
  EXPECT_FALSE(store->renew_keys().value());
  expect_all(*store);
}

TEST_F(KeyUpkeepTest, ANewKeyIsTakenUpAtTheStartToo) {
  {
    const auto store = open();
    fill(*store);
  }
  ASSERT_TRUE(rotate_key(place()));
  ASSERT_TRUE(rotate_key(place()));
  const auto store = open();
  sweep_all(*store);
  EXPECT_EQ(listed(),
            "seals        50 jobs' secrets\nis not used  0 jobs' secrets\n"
            "is not used  0 jobs' secrets");
  expect_all(*store);
}

// The server may still seal with the old one.
TEST_F(KeyUpkeepTest, AnOldKeyIsNotDroppedBeforeTheNewOneIsTakenUp) {
  const auto store = open();
  ASSERT_TRUE(rotate_key(place()));
  const auto early = drop_old_keys(place());
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("no server has taken up"), std::string::npos);
  fill(*store);  // with the old one
  ASSERT_TRUE(store->renew_keys());
  ASSERT_TRUE(drop_old_keys(place()));
  EXPECT_EQ(keys().size(), 2U) << "still in use";
  sweep_all(*store);
  ASSERT_TRUE(drop_old_keys(place()));
  EXPECT_EQ(keys().size(), 1U);
  expect_all(*store);
}

TEST_F(KeyUpkeepTest, AKeyFileThatLacksAKeyInUseIsNotTakenUp) {
  const auto store = open();
  fill(*store);
  const auto before = keys();
  ASSERT_TRUE(replace_key_file(key_path(directory()), {SealingKey::random().value()}));
  const auto renewed = store->renew_keys();
  ASSERT_FALSE(renewed);
  EXPECT_NE(renewed.error().message.find(shown_key_id(before.front().id())), std::string::npos)
      << renewed.error().message;
  expect_all(*store);
  std::filesystem::remove(key_path(directory()));
  EXPECT_FALSE(store->renew_keys());
  expect_all(*store);
}

// A job whose secrets somebody has damaged must not keep the others, or the sweep, from going on.
TEST_F(KeyUpkeepTest, SecretsThatDoNotOpenAreLeftAndTheirKeyIsKept) {
  const auto store = open();
  fill(*store);
  {
    const auto db = Connection::open(database_path(directory()).native(), OpenMode::existing, "");
    (*db)->execute("UPDATE job SET secrets = (SELECT secrets FROM job WHERE id = 2) WHERE id = 1");
  }
  ASSERT_TRUE(rotate_key(place()));
  ASSERT_TRUE(store->renew_keys());
  EXPECT_EQ(sweep_all(*store), 6);
  EXPECT_EQ(sweep(*store), 0U) << "it does not begin anew";
  EXPECT_EQ(listed(), "seals        49 jobs' secrets\nopens        1 jobs' secrets");
  ASSERT_TRUE(drop_old_keys(place()));
  EXPECT_EQ(keys().size(), 2U);
}

TEST_F(KeyUpkeepTest, TwoCannotChangeTheFileAtOnce) {
  open().reset();
  const FileDescriptor other(::open(directory().c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  EXPECT_FALSE(rotate_key(place()));
  EXPECT_FALSE(drop_old_keys(place()));
  EXPECT_EQ(keys().size(), 1U);
}

TEST_F(KeyUpkeepTest, ThereMayNotBeTooManyKeys) {
  open().reset();
  for (std::size_t i = 1; i < kSealingKeysMax; ++i) ASSERT_TRUE(rotate_key(place()));
  EXPECT_FALSE(rotate_key(place()));
  EXPECT_EQ(keys().size(), kSealingKeysMax);
}

TEST_F(KeyUpkeepTest, WithoutAKeyFileThereIsNothingToRotate) {
  std::filesystem::create_directory(directory());
  EXPECT_FALSE(rotate_key(place()));
  EXPECT_FALSE(list_keys(place()));
  EXPECT_FALSE(std::filesystem::exists(key_path(directory())));
}

// A backup holds what the old key sealed; with the new one alone it does not open, and says so.
TEST_F(KeyUpkeepTest, AnOldBackupNeedsTheOldKey) {
  const auto old_keys = scratch_.path() / "old.key";
  const auto backup = scratch_.path() / "backup.db";
  {
    const auto store = open();
    fill(*store);
    ASSERT_TRUE(back_up_store(directory(), backup));
    std::filesystem::copy_file(key_path(directory()), old_keys);
    ASSERT_TRUE(rotate_key(place()));
    ASSERT_TRUE(store->renew_keys());
    sweep_all(*store);
    ASSERT_TRUE(drop_old_keys(place()));
  }
  const auto restored = scratch_.path() / "restored";
  ASSERT_TRUE(restore_store(backup, restored));
  std::filesystem::copy_file(key_path(directory()), key_path(restored));
  const auto refused = SqliteStore::open({.directory = restored});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("put the right one there"), std::string::npos);
  std::filesystem::remove(key_path(restored));
  std::filesystem::copy_file(old_keys, key_path(restored));
  const auto opened = SqliteStore::open({.directory = restored});
  ASSERT_TRUE(opened) << opened.error().message;
  expect_all(**opened);
}

// Readers and a writer at work while one key follows the other.
TEST_F(KeyUpkeepTest, NobodyIsDisturbedByRotations) {
  const auto store = open();
  fill(*store);
  std::atomic<bool> stop = false;
  std::atomic<int> read = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto jobs = store->jobs({collection_key(), {}, "", 0, 1000});
        ASSERT_TRUE(jobs) << jobs.error().message;
        for (const Job& found : *jobs) {
          const auto id = static_cast<std::int64_t>(found.id);
          ASSERT_EQ(secrets_of(found.definition), secrets_of(job(id).definition));
        }
        ++read;
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(rotate_key(place()));
    ASSERT_TRUE(store->renew_keys().value());
    Job put = job(round + 1);
    while (sweep(*store) > 0) ASSERT_TRUE(store->commit({PutJob{put, put.gen, {}}}));
    ASSERT_TRUE(drop_old_keys(place()));
    ASSERT_EQ(keys().size(), 1U);
    for (const int enough = read + 3; read < enough && !HasFailure();) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  expect_all(*store);
}

// The database is on a disk that loses power at every operation of a rotation; the key file,
// which changes whole or not at all, is on a sound one.
TEST_F(KeyUpkeepTest, APowerLossAtAnyMomentLosesNoSecret) {
  LossyDisk made(1);
  {
    const LossyVfs vfs("keys-made", made);
    fill(*open(vfs.name()));
  }
  const auto first = keys();
  const auto rotate = [&](LossyDisk& disk, const LossyVfs& vfs, int lose_power_at) {
    disk.copy(made);
    ASSERT_TRUE(replace_key_file(key_path(directory()), first));
    const auto store = open(vfs.name());
    ASSERT_TRUE(rotate_key(place()));
    disk.plan(DiskFault::power_loss, lose_power_at);
    for (bool going = store->renew_keys().has_value(); going;) {
      const auto swept = store->sweep({kFirstInstant, kFirstInstant, kSlice});
      going = swept && *swept > 0;
    }
  };
  int operations = 0;
  {
    LossyDisk disk(1);
    const LossyVfs vfs("keys-whole", disk);
    rotate(disk, vfs, 1'000'000);
    operations = disk.operations();
  }
  EXPECT_GT(operations, 10);
  for (int operation = 1; operation <= operations && !HasFailure(); ++operation) {
    SCOPED_TRACE(fmt::format("power lost at operation {}", operation));
    LossyDisk disk(static_cast<std::uint64_t>(operation));
    const LossyVfs vfs("keys-lossy", disk);
    rotate(disk, vfs, operation);
    disk.restart(operation % 2 == 0 ? Survivors::none : Survivors::some);
    const auto store = open(vfs.name());
    ASSERT_NE(store, nullptr);
    expect_all(*store);
    sweep_all(*store);
    expect_all(*store);
  }
}

}  // namespace
}  // namespace belfry
