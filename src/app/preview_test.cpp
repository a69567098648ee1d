// SPDX-License-Identifier: MIT

#include "app/preview.h"

#include <gtest/gtest.h>

#include "wire/iso8601.h"

namespace belfry {
namespace {

PreviewOptions at(const char* now) {
  return {.now = *parse_instant(now), .count = 3, .json = false};
}

TEST(Preview, ReadsTheResourceItsPropertiesOrOnlyTheTiming) {
  const std::string timing =
      R"("startTime":"2030-01-01T10:00Z","recurrence":{"frequency":"day","count":2})";
  for (const std::string& text :
       {"{\"properties\":{" + timing + "}}", "{" + timing + "}",
        "{\"id\":\"x\",\"properties\":{\"action\":{},\"state\":\"enabled\"," + timing + "}}"}) {
    const PreviewAnswer answer = preview(text, at("2029-12-31T00:00Z"));
    EXPECT_TRUE(answer.understood) << answer.complaints;
    EXPECT_EQ(answer.output, "2030-01-01T10:00:00Z\n2030-01-02T10:00:00Z\n");
  }
}

// A slip of the keyboard would else be a job that runs at once.
TEST(Preview, TellsOfWhatItDoesNotKnow) {
  const PreviewAnswer answer =
      preview(R"({"properties":{"action":{},"state":"enabled","timeZone":"Europe/Berlin",
                                "recurrence":{"frequency":"day","schedule":{"hour":[5]}}}})",
              at("2030-05-05T05:05:05Z"));
  EXPECT_TRUE(answer.understood);
  EXPECT_EQ(answer.complaints,
            "properties.recurrence.schedule.hour: is not known here, and was passed over.\n"
            "properties.timeZone: is not known here, and was passed over.\n");
}

TEST(Preview, WhatIsDueAtOncePrintsAsNow) {
  const PreviewAnswer answer = preview(R"({"action":{}})", at("2030-05-05T05:05:05Z"));
  EXPECT_EQ(answer.output, "2030-05-05T05:05:05Z\n");
}

TEST(Preview, PrintsAJsonArrayWhenAsked) {
  PreviewOptions options = at("2030-05-05T05:05:05Z");
  options.json = true;
  EXPECT_EQ(preview(R"({"recurrence":{"frequency":"hour","count":2}})", options).output,
            "[\"2030-05-05T05:05:05Z\",\"2030-05-05T06:05:05Z\"]\n");
}

TEST(Preview, SaysEverythingThatIsWrongWithItsPath) {
  const PreviewAnswer answer = preview(
      R"({"properties":{"recurrence":{"frequency":"week","interval":0,
          "schedule":{"hours":[25]}}}})",
      at("2030-05-05T05:05:05Z"));
  EXPECT_FALSE(answer.understood);
  EXPECT_EQ(
      answer.complaints,
      "properties.recurrence.interval: must be an integer from 1 to 1000; it is 0.\n"
      "properties.recurrence.schedule.hours[0]: must be an integer from 0 to 24; it is 25.\n");
  const PreviewAnswer rules =
      preview(R"({"properties":{"recurrence":{"frequency":"week","schedule":{"monthDays":[1]}}}})",
              at("2030-05-05T05:05:05Z"));
  EXPECT_NE(rules.complaints.find("properties.recurrence.schedule.monthDays: Cannot set days of "
                                  "month with recurrence unit 'Week'."),
            std::string::npos)
      << rules.complaints;
}

// Its last occurrence has passed, its end has not: what became of many a job.
TEST(Preview, AJobWithNothingAheadPrintsNothingAndSaysWhy) {
  const char* const job = R"({"startTime":"2030-01-01T09:00Z",
      "recurrence":{"frequency":"week","endTime":"2030-01-17"}})";
  const PreviewAnswer answer = preview(job, at("2030-01-16T00:00Z"));
  EXPECT_TRUE(answer.understood);
  EXPECT_EQ(answer.output, "");
  EXPECT_EQ(answer.complaints,
            "recurrence.endTime: The job would never run: no occurrence lies between now, "
            "2030-01-16T00:00:00Z, and endTime, 2030-01-17T00:00:00Z.\n");
  EXPECT_FALSE(preview(job, at("2030-01-18T00:00Z")).understood);
}

TEST(Preview, AFileWithoutAJobIsWrong) {
  for (const char* text : {"", "[]", "{}", "{\"x\":1}", "nonsense"}) {
    const PreviewAnswer answer = preview(text, at("2030-05-05T05:05:05Z"));
    EXPECT_FALSE(answer.understood) << text;
    EXPECT_FALSE(answer.complaints.empty()) << text;
  }
}

}  // namespace
}  // namespace belfry
