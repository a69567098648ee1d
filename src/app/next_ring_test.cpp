// SPDX-License-Identifier: MIT

#include "app/next_ring.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace belfry {
namespace {

std::optional<std::string> told(const std::string& properties) {
  return next_ring("nightly", boost::json::parse(R"({"properties": )" + properties + "}"));
}

TEST(InWords, IsATimeAsPeopleReadIt) {
  using namespace std::chrono;
  EXPECT_EQ(in_words(sys_days{year{2030} / 1 / 1} + hours{3} + seconds{7}),
            "Tuesday 1 January 2030 at 03:00:07 UTC");
  EXPECT_EQ(in_words(sys_days{year{9999} / 12 / 31} + milliseconds{86'399'999}),
            "Friday 31 December 9999 at 23:59:59 UTC");
}

TEST(NextRing, IsWhatTheServerSays) {
  EXPECT_EQ(
      told(R"({"state": "enabled", "status": {"nextExecutionTime": "2030-01-01T03:00:00Z"}})"),
      "nightly rings next on Tuesday 1 January 2030 at 03:00:00 UTC.");
}

TEST(NextRing, OrTheReasonWhyThereIsNone) {
  EXPECT_EQ(told(R"({"state": "Disabled"})"),
            "nightly does not ring: it is disabled. `belfry job enable nightly` lets it go on.");
  EXPECT_EQ(told(R"({"state": "completed", "status": {}})"),
            "nightly does not ring again: it is completed.");
  EXPECT_EQ(told(R"({"state": "faulted", "status": {}})"),
            "nightly does not ring again: it is faulted. `belfry job history nightly` says why.");
}

TEST(NextRing, OfOneThatIsBeingTriedSaysSo) {
  EXPECT_EQ(told(R"({"state": "enabled", "status": {"currentAttempt": {}}})"),
            "nightly is ringing now.");
  EXPECT_EQ(told(R"({"state": "enabled", "status": {"currentAttempt":
                 {"nextTryTime": "2030-01-01T03:00:30Z"}}})"),
            "nightly is tried again on Tuesday 1 January 2030 at 03:00:30 UTC.");
}

// The job is enabled and has no next time: its collection stands still.
TEST(NextRing, IsAskedOfTheCollectionWhereTheJobDoesNotSay) {
  EXPECT_EQ(told(R"({"state": "enabled", "status": {}})"), std::nullopt);
  EXPECT_EQ(no_ring("nightly", boost::json::parse(
                                   R"({"name": "first", "properties": {"state": "Disabled"}})")),
            "nightly does not ring: its job collection 'first' is disabled.");
  EXPECT_EQ(no_ring("nightly", boost::json::parse(R"({"properties": {"state": "Enabled"}})")),
            "nightly has no next time.");
}

}  // namespace
}  // namespace belfry
