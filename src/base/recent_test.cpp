// SPDX-License-Identifier: MIT

#include "base/recent.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(Recent, ForgetsWhatWasLookedAtLongestAgo) {
  Recent<int> recent(2);
  recent.at("a") = 1;
  recent.at("b") = 2;
  EXPECT_EQ(recent.at("a"), 1) << "now it is b that was looked at longest ago";
  recent.at("c") = 3;
  EXPECT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent.peek("b"), nullptr);
  ASSERT_NE(recent.peek("a"), nullptr);
  recent.at("d") = 4;
  EXPECT_EQ(recent.peek("a"), nullptr) << "a peek does not count";
  EXPECT_EQ(recent.at("c"), 3);
}

TEST(Recent, WhatWasErasedIsMadeAnew) {
  Recent<int> recent(2);
  recent.at("a") = 1;
  recent.erase("a");
  recent.erase("b");
  EXPECT_EQ(recent.size(), 0u);
  EXPECT_EQ(recent.at("a"), 0);
}

}  // namespace
}  // namespace belfry
