// SPDX-License-Identifier: MIT

#include "base/turns.h"

#include <gtest/gtest.h>

#include <memory>

namespace belfry {
namespace {

std::string order_of(Turns<std::unique_ptr<int>>& turns) {
  std::string order;
  while (!turns.empty()) order += std::to_string(*turns.pop());
  return order;
}

// Odd numbers are a's, even ones b's.
Turns<std::unique_ptr<int>> one_to(int last) {
  Turns<std::unique_ptr<int>> turns;
  for (int i = 1; i <= last; ++i) turns.push(i % 2 == 1 ? "a" : "b", std::make_unique<int>(i));
  return turns;
}

TEST(Turns, WhatIsTakenOutLeavesTheOrderOfTheRest) {
  auto turns = one_to(8);
  const auto taken = turns.take_if([](const auto& item) { return *item == 3 || *item == 8; });
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(turns.size(), 6u);
  EXPECT_EQ(turns.size_of("a"), 3u);
  EXPECT_EQ(order_of(turns), "125476");
}

TEST(Turns, AnOwnerOfWhomAllIsTakenOutHasNoTurn) {
  auto turns = one_to(4);
  EXPECT_EQ(turns.take_if([](const auto& item) { return *item % 2 == 1; }).size(), 2u);
  EXPECT_EQ(order_of(turns), "24");
}

TEST(Turns, NothingIsTakenOutWhereNothingIsWanted) {
  auto turns = one_to(3);
  EXPECT_TRUE(turns.take_if([](const auto&) { return false; }).empty());
  EXPECT_EQ(order_of(turns), "123");
}

}  // namespace
}  // namespace belfry
