// SPDX-License-Identifier: MIT

#include "api/rate_limits.h"

#include <gtest/gtest.h>

#include <string>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
constexpr Rates kRates{.reads = {10, 20}, .writes = {1, 2}};

// How many of so many requests are granted.
int granted(RateLimits& limits, int requests, Instant now, const std::string& who = "a",
            RequestKind kind = RequestKind::read) {
  int count = 0;
  for (int i = 0; i < requests; ++i) count += limits.take(who, kind, now).granted ? 1 : 0;
  return count;
}

TEST(RateLimits, ABurstIsGrantedOnceAndThenTheRate) {
  RateLimits limits(kRates);
  EXPECT_EQ(granted(limits, 100, kNow), 20);
  EXPECT_EQ(granted(limits, 100, kNow + milliseconds{99}), 0);
  EXPECT_EQ(granted(limits, 100, kNow + milliseconds{100}), 1);
  EXPECT_EQ(granted(limits, 100, kNow + seconds{1}), 9);
  EXPECT_EQ(granted(limits, 100, kNow + hours{24}), 20) << "no more than the bucket holds";
}

// A client that asks as often as it may, for a day, is never refused.
TEST(RateLimits, AnEvenRateIsNeverRefused) {
  RateLimits limits(Rates{.reads = {3, 1}, .writes = {}});
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(limits.take("a", RequestKind::read, kNow + i * milliseconds{334}).granted) << i;
  }
}

TEST(RateLimits, WhatIsLeftAndHowLongToWaitAreSaid) {
  RateLimits limits(kRates);
  EXPECT_EQ(limits.take("a", RequestKind::write, kNow).remaining, 1);
  EXPECT_EQ(limits.take("a", RequestKind::write, kNow).remaining, 0);
  const Allowance refused = limits.take("a", RequestKind::write, kNow + milliseconds{300});
  EXPECT_FALSE(refused.granted);
  EXPECT_EQ(refused.retry_after, milliseconds{700});
  EXPECT_TRUE(limits.take("a", RequestKind::write, kNow + milliseconds{1000}).granted)
      << "whoever waits so long is granted it: a refusal takes nothing";
}

TEST(RateLimits, ALookSaysWhatATakeWouldAndTakesNothing) {
  RateLimits limits(kRates);
  EXPECT_TRUE(limits.look("a", RequestKind::write, kNow).granted);
  EXPECT_EQ(limits.keys(), 0u) << "nor is anybody remembered for it";
  EXPECT_EQ(granted(limits, 100, kNow, "a", RequestKind::write), 2);
  const Allowance refused = limits.look("a", RequestKind::write, kNow + milliseconds{300});
  EXPECT_FALSE(refused.granted);
  EXPECT_EQ(refused.retry_after, milliseconds{700});
  EXPECT_TRUE(limits.look("a", RequestKind::write, kNow + seconds{1}).granted);
  EXPECT_TRUE(limits.take("a", RequestKind::write, kNow + seconds{1}).granted);
  EXPECT_TRUE(limits.look("a", RequestKind::read, kNow).granted);
}

TEST(RateLimits, ReadsWritesAndOthersAreCountedApart) {
  RateLimits limits(kRates);
  EXPECT_EQ(granted(limits, 100, kNow, "a"), 20);
  EXPECT_EQ(granted(limits, 100, kNow, "a", RequestKind::write), 2);
  EXPECT_EQ(granted(limits, 100, kNow, "b"), 20);
}

TEST(RateLimits, ARateOfNoneRefusesNobodyAndRemembersNobody) {
  RateLimits limits(Rates{});
  EXPECT_EQ(granted(limits, 100'000, kNow), 100'000);
  EXPECT_FALSE(limits.limited(RequestKind::read));
  EXPECT_EQ(limits.keys(), 0u);
}

// A clock that was wrong for a while must not lock anybody out.
TEST(RateLimits, AClockThatIsPutBackCostsNoMoreThanABucket) {
  RateLimits limits(kRates);
  EXPECT_EQ(granted(limits, 100, kNow + hours{24 * 365}), 20);
  EXPECT_EQ(granted(limits, 100, kNow), 0);
  EXPECT_EQ(limits.take("a", RequestKind::read, kNow).retry_after, milliseconds{100});
  EXPECT_EQ(granted(limits, 100, kNow + seconds{2}), 20);
}

// Names cost nothing: a caller who may go everywhere could name a million subscriptions.
TEST(RateLimits, TheTableIsBoundedAndForgetsWhoAskedLongestAgo) {
  RateLimits limits(kRates, /*keys_max=*/3);
  for (const char* who : {"a", "b", "c"}) EXPECT_EQ(granted(limits, 100, kNow, who), 20);
  EXPECT_EQ(granted(limits, 1, kNow, "a"), 0) << "now it is b that asked longest ago";
  EXPECT_EQ(granted(limits, 100, kNow, "d"), 20);
  EXPECT_EQ(limits.keys(), 3u);
  EXPECT_EQ(granted(limits, 1, kNow, "a"), 0);
  EXPECT_EQ(granted(limits, 1, kNow, "c"), 0);
  EXPECT_EQ(granted(limits, 1, kNow, "b"), 1);
  for (int i = 0; i < 1000; ++i) granted(limits, 1, kNow, std::to_string(i));
  EXPECT_EQ(limits.keys(), 3u);
}

}  // namespace
}  // namespace belfry
