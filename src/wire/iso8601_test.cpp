// SPDX-License-Identifier: MIT

#include "wire/iso8601.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

struct DateCase {
  const char* in;
  const char* out;  // nullptr: refused
};

// Every spelling that the founding documents and the published clients use.
TEST(ParseInstant, ReadsWhatClientsWrite) {
  const DateCase cases[] = {
      {"2012-08-04T00:00Z", "2012-08-04T00:00:00Z"},
      {"2012-11-04", "2012-11-04T00:00:00Z"},
      {"2007-03-01T14:00:00Z ", "2007-03-01T14:00:00Z"},
      {"2019-07-07T07:07:07-07:00", "2019-07-07T14:07:07Z"},
      {"2019-07-07T07:07:07+0530", "2019-07-07T01:37:07Z"},
      {"2019-07-07T07:07:07+05", "2019-07-07T02:07:07Z"},
      {"2019-07-07T07:07:07", "2019-07-07T07:07:07Z"},
      {"2019-07-07 07:07", "2019-07-07T07:07:00Z"},
      {"2026-12-15T18:26:25.000Z", "2026-12-15T18:26:25Z"},
      {"2016-03-01T10:00:45.216Z", "2016-03-01T10:00:45.216Z"},
      {"2016-03-01T10:00:45.1234567Z", "2016-03-01T10:00:45.1234567Z"},
      {"2016-03-01T10:00:45.123456789Z", "2016-03-01T10:00:45.1234567Z"},
      {"2016-02-29T00:00Z", "2016-02-29T00:00:00Z"},
      {"0001-01-01T00:00Z", "0001-01-01T00:00:00Z"},
      {"9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
  };
  for (const DateCase& one : cases) {
    const auto instant = parse_instant(one.in);
    ASSERT_TRUE(instant) << one.in;
    EXPECT_EQ(format_instant(*instant), one.out) << one.in;
  }
}

TEST(ParseInstant, RefusesWhatIsNoDate) {
  for (const char* text : {"",
                           "tomorrow",
                           "2012",
                           "2012-13-01",
                           "2012-02-30",
                           "2015-02-29",
                           "2012-1-1",
                           "0000-01-01",
                           "10000-01-01",
                           "2012-01-01T",
                           "2012-01-01T24:00Z",
                           "2012-01-01T10:60Z",
                           "2012-01-01T10Z",
                           "2012-01-01T10:00:60Z",
                           "2012-01-01T10:00:00.Z",
                           "2012-01-01T10:00ZZ",
                           "2012-01-01X10:00",
                           "2012-01-01T10:00+25:00",
                           "2012-01-01T10:00+1",
                           "9999-12-31T23:59:59-01:00",
                           "0001-01-01T00:00+01:00",
                           "-2012-01-01",
                           "2012-01-01T10:00:00Z junk"}) {
    EXPECT_FALSE(parse_instant(text)) << text;
  }
}

TEST(ParseDuration, ReadsIsoAndTimeSpans) {
  const DateCase cases[] = {
      {"PT30S", "00:00:30"},          {"PT1M", "00:01:00"},
      {"P1DT2H3M4S", "1.02:03:04"},   {"PT1D", "1.00:00:00"},
      {"P1M", "30.00:00:00"},         {"P1Y", "365.00:00:00"},
      {"P2W", "14.00:00:00"},         {"PT0.5S", "00:00:00.5"},
      {"PT90S", "00:01:30"},          {"00:00:30", "00:00:30"},
      {"01:00", "01:00:00"},          {"1.02:03:04", "1.02:03:04"},
      {"00:00:00.25", "00:00:00.25"}, {"548.00:00:00", "548.00:00:00"},
      {"PT0S", "00:00:00"},
  };
  for (const DateCase& one : cases) {
    const auto duration = parse_duration(one.in);
    ASSERT_TRUE(duration) << one.in;
    EXPECT_EQ(format_duration(*duration), one.out) << one.in;
  }
}

// What is written in ISO 8601 is the same duration, in its shortest spelling.
TEST(FormatIsoDuration, WritesWhatParseDurationReads) {
  const DateCase cases[] = {
      {"00:00:30", "PT30S"},    {"00:01:00", "PT1M"},         {"1.02:03:04", "P1DT2H3M4S"},
      {"01:00:00", "PT1H"},     {"1.00:00:00", "P1D"},        {"00:00:00", "PT0S"},
      {"00:00:00.5", "PT0.5S"}, {"00:01:00.25", "PT1M0.25S"},
  };
  for (const DateCase& one : cases) {
    const auto duration = parse_duration(one.in);
    ASSERT_TRUE(duration) << one.in;
    EXPECT_EQ(format_iso_duration(*duration), one.out);
    EXPECT_EQ(parse_duration(one.out), duration);
  }
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "P", "PT", "PT30", "30", "30S", "P1H", "PT1Y", "PT-1S", "-PT1S",
                           "PT1.5M", "PT1S2", "24:00:00", "00:60:00", "1:2:3", "999999.00:00:00",
                           "PT999999999999999999S", "P1DT", "pt1s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace
}  // namespace belfry
