// SPDX-License-Identifier: MIT

#include "app/heartbeat_calls.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
using Lines = std::vector<std::string>;

class HeartbeatCallsTest : public testing::Test {
 protected:
  // As the server's main thread does.
  void pass(Ticks span) {
    for (const Instant end = now_ + span; now_ < end;) {
      now_ += seconds{5};
      calls_.look(now_);
    }
  }

  void call(HeartbeatCalls::Arrived arrived) {
    ++called_;
    if (hangs_) {
      hanging_ = std::move(arrived);
    } else {
      arrived(fault_);
    }
  }

  Instant now_ = kNow;
  int called_ = 0;
  bool ready_ = true;
  bool hangs_ = false;
  std::string fault_;
  HeartbeatCalls::Arrived hanging_;
  Lines log_;
  HeartbeatCalls calls_{
      {[this](HeartbeatCalls::Arrived arrived) { call(std::move(arrived)); },
       [this] { return ready_; },
       [this](LogLevel, std::string_view line, std::initializer_list<LogField> fields) {
         log_.emplace_back(line);
         for (const LogField& field : fields) {
           log_.back() += ": " + field.second.text();
         }
       }}};
};

TEST_F(HeartbeatCallsTest, ComesAtOnceAndThenOnceAMinute) {
  calls_.look(now_);
  EXPECT_EQ(called_, 1);
  pass(seconds{55});
  EXPECT_EQ(called_, 1);
  pass(seconds{5});
  EXPECT_EQ(called_, 2);
  pass(hours{1});
  EXPECT_EQ(called_, 62);
  EXPECT_EQ(log_, Lines{});
}

// Whoever looks a second late each time still calls sixty times an hour.
TEST_F(HeartbeatCallsTest, LookingLateDoesNotAddUp) {
  for (int i = 0; i < 60 * 60; i += 7) calls_.look(now_ + seconds{i});
  EXPECT_EQ(called_, 60);
}

// The monitor is to notice; and to hear at once that it is over.
TEST_F(HeartbeatCallsTest, StaysOutWhileTheServerIsNotReady) {
  pass(minutes{2});
  ready_ = false;
  const int before = called_;
  pass(minutes{10});
  EXPECT_EQ(called_, before);
  ready_ = true;
  pass(seconds{5});
  EXPECT_EQ(called_, before + 1);
}

TEST_F(HeartbeatCallsTest, OneIsUnderWayAtATime) {
  hangs_ = true;
  pass(minutes{10});
  EXPECT_EQ(called_, 1);
  hanging_("");
  pass(seconds{5});
  EXPECT_EQ(called_, 2);
}

TEST_F(HeartbeatCallsTest, FaultsAreToldOnceAnHourAndTheirEnd) {
  fault_ = "it was answered 500";
  pass(minutes{59});
  EXPECT_EQ(log_, Lines{"the heartbeat did not arrive: it was answered 500"});
  pass(minutes{2});
  EXPECT_EQ(log_.size(), 2U);
  fault_ = "";
  pass(minutes{5});
  ASSERT_EQ(log_.size(), 3U);
  EXPECT_EQ(log_.back(), "the heartbeat arrives again");
  fault_ = "no connection";
  pass(minutes{1});
  EXPECT_EQ(log_.back(), "the heartbeat did not arrive: no connection");
}

TEST_F(HeartbeatCallsTest, AClockThatIsPutBackDoesNotSilenceIt) {
  calls_.look(now_);
  calls_.look(now_ - hours{24});
  EXPECT_EQ(called_, 2);
}

}  // namespace
}  // namespace belfry
