// SPDX-License-Identifier: MIT

#include "app/engine_watch.h"

#include <gtest/gtest.h>

#include <future>

namespace belfry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Silence, GrowsFromTickToTickWhileNoStepIsTaken) {
  Silence silence(seconds{1});
  EXPECT_TRUE(silence.tick(7));
  EXPECT_EQ(silence.length(), seconds{0});
  for (int tick = 1; tick <= 90; ++tick) {
    EXPECT_FALSE(silence.tick(7));
    EXPECT_EQ(silence.length(), seconds{tick});
  }
  EXPECT_TRUE(silence.tick(8));
  EXPECT_EQ(silence.length(), seconds{0});
}

// An hour in which the process stood still is one tick long, like any other.
TEST(Silence, IsAsLongAsItWasWatched) {
  Silence silence(seconds{1});
  silence.tick(7);
  EXPECT_FALSE(silence.tick(7)) << "the process was stopped here, and has just gone on";
  EXPECT_EQ(silence.length(), seconds{1});
}

// A minute is over in no time here.
class WatchTest : public testing::Test {
 protected:
  EngineWatch::Options options() {
    return {.progress = [this] { return steps_ += beating_ ? 1 : 0; },
            .on_beat =
                [this] {
                  if (!std::exchange(beat_, true)) heard_.set_value();
                },
            .on_giving_up =
                [this] {
                  if (!std::exchange(given_up_, true)) end_.set_value();
                },
            .tick = milliseconds{1},
            .given_up_after = milliseconds{20}};
  }

  std::atomic<bool> beating_ = true;
  std::uint64_t steps_ = 0;
  bool beat_ = false;
  bool given_up_ = false;
  std::promise<void> heard_;
  std::promise<void> end_;
};

TEST_F(WatchTest, TellsOfBeatsAndThenOfTheirEnd) {
  EngineWatch watch(options());
  heard_.get_future().wait();
  EXPECT_EQ(watch.trouble(), "");
  beating_ = false;
  end_.get_future().wait();
}

}  // namespace
}  // namespace belfry
