// SPDX-License-Identifier: MIT

#include "app/virtual_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class VirtualStoreTest : public testing::Test {
 protected:
  void make_database() { std::ofstream(database_path(scratch_.path())); }

  bool fits(bool is_virtual) const {
    return static_cast<bool>(check_clock_of(scratch_.path(), is_virtual));
  }

  ScratchDirectory scratch_;
};

TEST_F(VirtualStoreTest, OneThatIsNotThereYetFitsEitherClock) {
  EXPECT_TRUE(fits(true));
  EXPECT_TRUE(fits(false));
}

TEST_F(VirtualStoreTest, OneOfTheMachinesClockIsKeptFromAVirtualOne) {
  make_database();
  EXPECT_TRUE(fits(false));
  EXPECT_FALSE(fits(true));
}

TEST_F(VirtualStoreTest, OneOfAVirtualClockIsKeptFromTheMachines) {
  make_database();
  ASSERT_TRUE(mark_virtual(scratch_.path()));
  EXPECT_TRUE(mark_virtual(scratch_.path()));
  EXPECT_TRUE(fits(true));
  EXPECT_FALSE(fits(false));
}

}  // namespace
}  // namespace belfry
