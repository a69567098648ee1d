// SPDX-License-Identifier: MIT

#include "store/sealer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "store/key_file.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

SealingKey key_of(std::uint8_t byte) {
  SealingKey::Bytes bytes{};
  bytes.fill(byte);
  return SealingKey(bytes);
}

// The secrets of a job's main action, which goes there.
SecretPlace place(std::int64_t job, const std::string& destination = "https://here:443") {
  return {JobId{job}, ActionRole::main, destination};
}

TEST(Sealer, OpensWhatItSealed) {
  const Sealer sealer({key_of(1)});
  for (const std::string& text : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
    const auto sealed = sealer.seal(place(7), text);
    ASSERT_TRUE(sealed);
    EXPECT_EQ(sealer.open(place(7), *sealed).value(), text);
  }
}

// Equal secrets must not look equal in the file.
TEST(Sealer, SealsTheSameTextDifferentlyEachTime) {
  const Sealer sealer({key_of(1)});
  EXPECT_NE(sealer.seal(place(7), "same").value(), sealer.seal(place(7), "same").value());
}

TEST(Sealer, DoesNotOpenForAnotherJob) {
  const Sealer sealer({key_of(1)});
  const auto sealed = sealer.seal(place(7), "secret").value();
  EXPECT_FALSE(sealer.open(place(8), sealed));
  EXPECT_FALSE(sealer.open(place(-7), sealed));
}

// An error action does not get the main action's secrets, and nobody else does.
TEST(Sealer, DoesNotOpenInAnotherRoleOrForAnotherDestination) {
  const Sealer sealer({key_of(1)});
  const auto sealed = sealer.seal(place(7), "secret").value();
  SecretPlace other = place(7);
  other.role = ActionRole::error;
  EXPECT_FALSE(sealer.open(other, sealed));
  EXPECT_FALSE(sealer.open(place(7, "https://there:443"), sealed));
  EXPECT_FALSE(sealer.open_of_both_roles(JobId{7}, sealed));
}

TEST(Sealer, KnowsItsOwnMac) {
  using Verdict = Sealer::Verdict;
  Sealer sealer({key_of(1)});
  const std::string mac = sealer.mac("row");
  EXPECT_EQ(key_id_of_mac(mac), key_of(1).id());
  EXPECT_EQ(sealer.judge("row", mac), Verdict::genuine);
  EXPECT_EQ(sealer.judge("another", mac), Verdict::forged);
  EXPECT_EQ(sealer.judge("row", mac.substr(1)), Verdict::forged);
  EXPECT_EQ(sealer.judge("row", ""), Verdict::forged);
  EXPECT_EQ(Sealer({key_of(2)}).judge("row", mac), Verdict::key_missing);
  EXPECT_EQ(Sealer({key_of(2), key_of(1)}).judge("row", mac), Verdict::genuine);
  for (std::size_t i = kSealingKeyIdBytes * 8; i < mac.size() * 8; ++i) {
    std::string changed = mac;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    EXPECT_EQ(sealer.judge("row", changed), Verdict::forged) << "bit " << i;
  }
}

TEST(Sealer, WantsAMacOnceAllRowsHaveOne) {
  Sealer sealer({key_of(1)});
  EXPECT_EQ(sealer.judge("row", std::nullopt), Sealer::Verdict::missing);
  sealer.demand_macs();
  EXPECT_EQ(sealer.judge("row", std::nullopt), Sealer::Verdict::forged);
}

TEST(Sealer, DoesNotOpenWhenAnyBitWasChangedOrAnythingIsMissing) {
  const Sealer sealer({key_of(1)});
  const auto sealed = sealer.seal(place(7), "secret").value();
  for (std::size_t i = 0; i < sealed.size() * 8; ++i) {
    std::string changed = sealed;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(sealer.open(place(7), changed)) << "bit " << i;
  }
  for (std::size_t length = 0; length < sealed.size(); ++length) {
    EXPECT_FALSE(sealer.open(place(7), sealed.substr(0, length)));
  }
}

TEST(Sealer, TellsAMissingKeyFromAChangedText) {
  const auto sealed = Sealer({key_of(1)}).seal(place(7), "secret").value();
  const auto opened = Sealer({key_of(2)}).open(place(7), sealed);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find(shown_key_id(key_of(1).id())), std::string::npos);
  EXPECT_NE(opened.error().message.find("not here"), std::string::npos);
}

// The seam for a rotation: a new key seals, the old one still opens.
TEST(Sealer, OpensWithEveryKeyItHasAndSealsWithTheFirst) {
  const auto sealed = Sealer({key_of(1)}).seal(place(7), "secret").value();
  const Sealer both({key_of(2), key_of(1)});
  EXPECT_EQ(both.open(place(7), sealed).value(), "secret");
  const auto anew = both.seal(place(7), "secret").value();
  EXPECT_TRUE(Sealer({key_of(2)}).open(place(7), anew));
  EXPECT_FALSE(Sealer({key_of(1)}).open(place(7), anew));
}

// Somebody may have read a row before the key changed, and opens it after.
TEST(Sealer, TakesNewKeysAndStillOpensWithThoseItHad) {
  Sealer sealer({key_of(1)});
  const Sealer copy = sealer;
  const auto old = sealer.seal(place(7), "old").value();
  sealer.take({key_of(2)});
  const auto young = sealer.seal(place(7), "young").value();
  EXPECT_EQ(key_id_of(old), key_of(1).id());
  EXPECT_EQ(key_id_of(young), key_of(2).id());
  for (const Sealer* each : std::initializer_list<const Sealer*>{&sealer, &copy}) {
    EXPECT_EQ(each->open(place(7), old).value(), "old");
    EXPECT_EQ(each->open(place(7), young).value(), "young");
  }
  EXPECT_EQ(key_id_of("short"), "");
}

void write_file(const std::filesystem::path& path, const std::string& text, mode_t mode) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
}

TEST(KeyFile, IsMadeForItsOwnerAloneAndReadBack) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "secret.key";
  EXPECT_TRUE(read_key_file(path).value().empty());
  const auto made = make_key_file(path);
  ASSERT_TRUE(made);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto read = read_key_file(path).value();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.front().bytes(), made->bytes());
  EXPECT_EQ(read.front().id(), made->id());
}

TEST(KeyFile, HoldsSeveralKeysInTheirOrder) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "secret.key";
  const auto first = make_key_file(path).value();
  ASSERT_TRUE(replace_key_file(path, {key_of(2), first}));
  const auto read = read_key_file(path).value();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].bytes(), key_of(2).bytes());
  EXPECT_EQ(read[1].bytes(), first.bytes());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(KeyFile, IsNeverOverwritten) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "secret.key";
  const auto first = make_key_file(path).value();
  EXPECT_FALSE(make_key_file(path));
  EXPECT_EQ(read_key_file(path).value().front().bytes(), first.bytes());
}

TEST(KeyFile, IsRefusedWhenOthersMayReadIt) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "secret.key";
  const std::string text(64, 'a');
  for (const mode_t mode : {0640u, 0604u, 0620u, 0601u}) {
    write_file(path, text, mode);
    const auto read = read_key_file(path);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("chmod 600"), std::string::npos) << read.error().message;
  }
}

TEST(KeyFile, IsRefusedWhenItIsNoKey) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "secret.key";
  const auto is_key = [&](const std::string& text) {
    std::filesystem::remove(path);
    write_file(path, text, 0400);
    const auto read = read_key_file(path);
    return read && !read->empty();
  };
  EXPECT_TRUE(is_key(fmt::format("{:7>64}", "")));
  EXPECT_TRUE(is_key(fmt::format("{:A>64}\r\n", "")));
  EXPECT_FALSE(is_key(""));
  EXPECT_FALSE(is_key(fmt::format("{:7>63}\n", "")));
  EXPECT_FALSE(is_key(fmt::format("{:7>65}\n", "")));
  EXPECT_FALSE(is_key(fmt::format("{:7>63}g\n", "")));
  EXPECT_FALSE(is_key(fmt::format("{:7>64}\n\nx", "")));
  EXPECT_FALSE(is_key(fmt::format("{0:7>64}\n\n{0:8>64}\n", "")));
  std::string many;
  for (std::size_t i = 0; i < kSealingKeysMax; ++i) many += fmt::format("{:7>64}\r\n", "");
  EXPECT_TRUE(is_key(many));
  EXPECT_FALSE(is_key(many + fmt::format("{:7>64}\n", "")));
}

}  // namespace
}  // namespace belfry
