// SPDX-License-Identifier: MIT
//
// Whoever else may write in the directory of a store could put what he likes in the place of its
// files, and have us write to, or read, what he could not himself.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class OwnFilesTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return scratch_.path() / "data"; }
  std::filesystem::path elsewhere() const { return scratch_.path() / "elsewhere"; }

  std::string refusal() {
    const auto opened = SqliteStore::open({.directory = directory()});
    return opened ? "opened" : opened.error().message;
  }
  void expect_refused(const std::string& why) {
    const std::string said = refusal();
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }

  ScratchDirectory scratch_;
};

TEST_F(OwnFilesTest, ALinkInThePlaceOfTheLockIsRefusedAndWhereItLeadsIsLeftAlone) {
  std::filesystem::create_directory(directory());
  std::ofstream(elsewhere()) << "dear";
  std::filesystem::create_symlink(elsewhere(), directory() / "belfry.lock");
  expect_refused("belfry.lock is a symbolic link");
  std::ostringstream left;
  left << std::ifstream(elsewhere()).rdbuf();
  EXPECT_EQ(left.str(), "dear");
}

TEST_F(OwnFilesTest, ALinkInThePlaceOfAnyOtherFileIsRefused) {
  for (const char* const name : {"belfry.db", "belfry.db-wal", "belfry.db-shm", "secret.key"}) {
    std::filesystem::remove_all(directory());
    std::filesystem::create_directory(directory());
    std::filesystem::create_symlink(elsewhere(), directory() / name);
    expect_refused(std::string(name) + " is a symbolic link");
    EXPECT_FALSE(std::filesystem::exists(elsewhere())) << name;
  }
}

// A cluster hands its secrets over as links.
TEST_F(OwnFilesTest, AKeyFileThatIsNamedMayBeALink) {
  ASSERT_EQ(refusal(), "opened");
  const auto mounted = scratch_.path() / "mounted";
  std::filesystem::rename(directory() / "secret.key", elsewhere());
  std::filesystem::create_symlink(elsewhere(), mounted);
  const auto opened = SqliteStore::open({.directory = directory(), .key_file = mounted});
  EXPECT_TRUE(opened) << opened.error().message;
}

// Whoever opens one waits for somebody to write.
TEST_F(OwnFilesTest, AKeyFileThatIsAPipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(refusal(), "opened");
  const auto pipe = scratch_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  const auto opened = SqliteStore::open({.directory = directory(), .key_file = pipe});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("is not a file"), std::string::npos);
}

TEST_F(OwnFilesTest, CheckingAndBackingUpFollowNoLinkEither) {
  ASSERT_EQ(refusal(), "opened");
  std::filesystem::rename(directory() / "belfry.db", elsewhere());
  std::filesystem::create_symlink(elsewhere(), directory() / "belfry.db");
  EXPECT_FALSE(check_store(directory()));
  EXPECT_FALSE(back_up_store(directory(), scratch_.path() / "backup.db"));
}

TEST_F(OwnFilesTest, ADirectoryThatOthersMayWriteIsRefused) {
  std::filesystem::create_directory(directory());
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(directory().c_str(), mode), 0);
    expect_refused("chmod go-w");
    EXPECT_FALSE(restore_store(elsewhere(), directory()));
  }
  ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
  EXPECT_EQ(refusal(), "opened");
}

// The directory itself may be one: systemd's is.
TEST_F(OwnFilesTest, ALinkToTheDirectoryIsFollowed) {
  std::filesystem::create_directory(elsewhere());
  std::filesystem::create_directory_symlink(elsewhere(), directory());
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(OwnFilesTest, ADirectoryOfAnotherUserIsRefusedToAllButRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  constexpr uid_t kOther = 12345;
  constexpr uid_t kWe = 12346;
  std::filesystem::create_directory(directory());
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0711), 0);
  ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
  ASSERT_EQ(::chown(directory().c_str(), kOther, kOther), 0);
  ASSERT_EQ(::seteuid(kWe), 0);
  const std::string said = refusal();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_NE(said.find("belongs to the user 12345"), std::string::npos) << said;
  EXPECT_EQ(refusal(), "opened");
}

}  // namespace
}  // namespace belfry
