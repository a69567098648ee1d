// SPDX-License-Identifier: MIT

#include "engine/store_health.h"

#include <gtest/gtest.h>

#include <vector>

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
const Error kFull{ErrorCode::unavailable, "the disk is full", {}};

class StoreHealthTest : public testing::Test {
 protected:
  StoreHealthTest() {
    health_.set_log([this](LogLevel, const std::string& line) { lines_.push_back(line); });
  }

  StoreHealth health_;
  std::vector<std::string> lines_;
};

TEST_F(StoreHealthTest, IsInTroubleUntilTheStoreWasReadOnce) {
  EXPECT_EQ(health_.trouble(), "it has not been read yet");
  health_.read(kNow);
  EXPECT_EQ(health_.trouble(), "");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(StoreHealthTest, SaysOnceThatTheStoreFailsAndOnceThatItWorksAgain) {
  for (int i = 0; i < 1000; ++i) {
    health_.failed(kFull);
    health_.read(kNow + i * std::chrono::milliseconds{1});
    EXPECT_EQ(health_.trouble(), kFull.message);
  }
  health_.written();
  EXPECT_EQ(health_.trouble(), "");
  EXPECT_EQ(lines_, (std::vector<std::string>{"the store failed: the disk is full",
                                              "the store works again"}));
}

TEST_F(StoreHealthTest, BelievesReadsWhenNobodyWritesForAWhile) {
  health_.failed(kFull);
  health_.read(kNow);
  health_.read(kNow - std::chrono::hours{1});
  health_.read(kNow - std::chrono::hours{1} + StoreHealth::kStandsUnwritten - kOneTick);
  EXPECT_EQ(health_.trouble(), kFull.message);
  health_.read(kNow - std::chrono::hours{1} + StoreHealth::kStandsUnwritten);
  EXPECT_EQ(health_.trouble(), "");
}

}  // namespace
}  // namespace belfry
