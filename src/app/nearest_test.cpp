// SPDX-License-Identifier: MIT

#include "app/nearest.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

const std::vector<std::string> kCommands = {"serve", "config", "ready", "preview", "job", "key"};

TEST(Nearest, FindsTheWordBehindATypingError) {
  EXPECT_EQ(nearest("serv", kCommands), "serve");       // left out
  EXPECT_EQ(nearest("servee", kCommands), "serve");     // put in
  EXPECT_EQ(nearest("serfe", kCommands), "serve");      // replaced
  EXPECT_EQ(nearest("confgi", kCommands), "config");    // swapped
  EXPECT_EQ(nearest("jbo", kCommands), "job");          // the same in a short word
  EXPECT_EQ(nearest("preveiw", kCommands), "preview");  // in the middle
}

TEST(Nearest, DoesNotGuessAtAnotherWord) {
  EXPECT_EQ(nearest("start", kCommands), "");
  EXPECT_EQ(nearest("ls", kCommands), "");
  EXPECT_EQ(nearest("", kCommands), "");
  EXPECT_EQ(nearest("serve", {}), "");
}

TEST(Nearest, PrefersTheNearer) {
  EXPECT_EQ(nearest("--tls-kye", {"--tls-certificate", "--key-file", "--tls-key"}), "--tls-key");
  EXPECT_EQ(nearest("ab", {"abc", "ab"}), "ab");
}

}  // namespace
}  // namespace belfry
