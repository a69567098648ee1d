// SPDX-License-Identifier: MIT

#include "base/clock.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kStart = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

TEST(OffsetKeeper, FollowsSmallCorrectionsAtOnce) {
  OffsetKeeper keeper;
  EXPECT_EQ(keeper.tell(seconds{100}, kStart), kStart);
  EXPECT_EQ(keeper.tell(seconds{101}, kStart + seconds{3}), kStart + seconds{3});
  EXPECT_EQ(keeper.tell(seconds{102}, kStart + seconds{1}), kStart + seconds{1});
  EXPECT_TRUE(keeper.trusted());
}

// Somebody sets the clock a day ahead and back: nothing of that day may run.
TEST(OffsetKeeper, AJumpThatIsTakenBackNeverHappened) {
  OffsetKeeper keeper;
  keeper.tell(seconds{100}, kStart);
  EXPECT_EQ(keeper.tell(seconds{101}, kStart + hours{24}), kStart + seconds{1});
  EXPECT_FALSE(keeper.trusted());
  EXPECT_EQ(keeper.tell(seconds{104}, kStart + hours{24}), kStart + seconds{4});
  EXPECT_EQ(keeper.tell(seconds{105}, kStart + seconds{5}), kStart + seconds{5});
  EXPECT_TRUE(keeper.trusted());
}

TEST(OffsetKeeper, AJumpThatStandsIsBelieved) {
  for (const hours jump : {hours{24}, hours{-24}}) {
    OffsetKeeper keeper;
    keeper.tell(seconds{100}, kStart);
    keeper.tell(seconds{101}, kStart + jump);
    EXPECT_FALSE(keeper.trusted());
    const Ticks later = seconds{101} + OffsetKeeper::kMustStand;
    const Instant wall = kStart + jump + OffsetKeeper::kMustStand;
    EXPECT_EQ(keeper.tell(later - milliseconds{1}, wall - milliseconds{1}),
              kStart + seconds{1} + OffsetKeeper::kMustStand - milliseconds{1});
    EXPECT_EQ(keeper.tell(later, wall), wall);
    EXPECT_TRUE(keeper.trusted());
  }
}

TEST(OffsetKeeper, CountsJumpsAndSaysHowFarTheClockIsAhead) {
  OffsetKeeper keeper;
  keeper.tell(seconds{100}, kStart);
  keeper.tell(seconds{101}, kStart + seconds{1} + milliseconds{900});
  EXPECT_EQ(keeper.jumps(), 0u);
  keeper.tell(seconds{102}, kStart + seconds{10});
  EXPECT_EQ(keeper.jumps(), 1u);
  EXPECT_EQ(keeper.ahead(), Ticks{0});
  keeper.tell(seconds{103}, kStart + seconds{11} - hours{24});
  keeper.tell(seconds{104}, kStart + seconds{12} - hours{24});
  EXPECT_EQ(keeper.jumps(), 2u);
  EXPECT_EQ(keeper.ahead(), -hours{24});
  keeper.tell(seconds{105}, kStart + seconds{13});
  EXPECT_EQ(keeper.jumps(), 2u);
  EXPECT_EQ(keeper.ahead(), Ticks{0});
}

TEST(OffsetKeeper, AClockThatKeepsJumpingIsNeverBelieved) {
  OffsetKeeper keeper;
  keeper.tell(seconds{0}, kStart);
  for (int i = 1; i <= 20; ++i) {
    const Instant told = keeper.tell(seconds{i}, kStart + hours{i * i});
    EXPECT_EQ(told, kStart + seconds{i});
    EXPECT_FALSE(keeper.trusted());
  }
}

}  // namespace
}  // namespace belfry
