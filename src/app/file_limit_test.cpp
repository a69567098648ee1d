// SPDX-License-Identifier: MIT

#include "app/file_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace belfry {
namespace {

TEST(FileLimit, WhereThereAreEnoughClientsHaveWhatIsWanted) {
  for (const std::size_t files :
       {std::size_t{16'000}, std::size_t{1'048'576}, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_EQ(connections_with(files, 10'000), 10'000u) << files;
  }
}

// Calls to targets are what a scheduler is for.
TEST(FileLimit, FilesAreKeptBackForCallsToTargets) {
  EXPECT_EQ(connections_with(15'000, 10'000), 9'000u);
  EXPECT_EQ(connections_with(1'024, 10'000), 512u);
  EXPECT_EQ(connections_with(256, 10'000), 128u);
  EXPECT_EQ(connections_with(256, 100), 100u);
}

}  // namespace
}  // namespace belfry
