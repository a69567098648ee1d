// SPDX-License-Identifier: MIT

#include "base/short_slices.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace belfry {
namespace {

// Whoever runs Belfry with `nice` wants it to give way: that stays.
TEST(ShortSlices, LeaveWhatTheOperatorDecided) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 5), 0);
    take_short_slices();
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 5);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  }).join();
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    take_short_slices();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace belfry
