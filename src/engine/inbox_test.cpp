// SPDX-License-Identifier: MIT

#include "engine/inbox.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

Inbox::CommandLetter letter(const std::string& job = "job") {
  return {RunJobCommand{{{}, job}}, [](const Result<Reply>&) {}, std::nullopt};
}

TEST(Inbox, RefusesCommandsBeyondItsLimitAndTakesThemAgainWhenItWasEmptied) {
  Inbox inbox;
  const auto submit = [&inbox] { return inbox.submit(letter()); };
  for (std::size_t i = 0; i < kWaitingCommandsMax; ++i) ASSERT_TRUE(submit());
  EXPECT_FALSE(submit());
  EXPECT_EQ(inbox.take().commands.size(), kWaitingCommandsMax);
  EXPECT_TRUE(inbox.empty());
  EXPECT_TRUE(submit());
}

// Whoever sent an attempt has to be heard, however many users are waiting.
TEST(Inbox, NeverRefusesAReport) {
  Inbox inbox;
  for (std::size_t i = 0; i <= kWaitingCommandsMax; ++i) {
    inbox.submit(letter());
  }
  inbox.report({}, {});
  EXPECT_EQ(inbox.take().reports.size(), 1u);
}

TEST(Inbox, GivesEverythingOnceAndInOrder) {
  Inbox inbox;
  for (const char* name : {"a", "b"}) {
    inbox.submit(letter(name));
  }
  const Inbox::Letters letters = inbox.take();
  ASSERT_EQ(letters.commands.size(), 2u);
  EXPECT_EQ(std::get<RunJobCommand>(letters.commands[0].command).key.name, "a");
  EXPECT_EQ(std::get<RunJobCommand>(letters.commands[1].command).key.name, "b");
  EXPECT_TRUE(inbox.take().commands.empty());
}

// These return at once, or the test would hang.
TEST(Inbox, WaitsNoLongerThanItHasTo) {
  Inbox inbox;
  inbox.wake();
  inbox.wait_for(std::chrono::hours{1});
  inbox.report({}, {});
  inbox.wait_for(std::chrono::hours{1});
}

}  // namespace
}  // namespace belfry
