// SPDX-License-Identifier: MIT

#include "app/occurrence_log.h"

#include <gtest/gtest.h>

#include "model/attempt.h"

namespace belfry {
namespace {

using std::chrono::milliseconds;

const Instant kNoon = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
constexpr const char* kJobId =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/c/jobs/j";

Job sample_job() {
  Job job;
  job.id = JobId{5};
  job.key = JobKey{{"s", "g", "c"}, "j"};
  return job;
}

HistoryEntry row(HistoryStatus status, const std::string& message = "") {
  HistoryEntry row;
  row.job = JobId{5};
  row.occurrence = {kNoon, 7};
  row.started = kNoon;
  row.ended = kNoon + milliseconds{15};
  row.status = status;
  row.message = message;
  return row;
}

class OccurrenceLogTest : public testing::Test {
 protected:
  void commit(OccurrenceLog& log, const Write& write, WriteResult result = WriteResult::applied) {
    log.committing();
    log.committed({write}, {result});
  }

  OccurrenceLog::Log into_lines() {
    return [this](LogLevel level, std::string_view message, std::initializer_list<LogField> rest) {
      lines_.push_back(log_line(LogFormat::text, level, message, rest));
    };
  }

  std::vector<std::string> lines_;
  VirtualClock clock_{kNoon};
  OccurrenceLog log_{LogLevel::info, clock_, into_lines()};
};

TEST_F(OccurrenceLogTest, AFailureNamesJobOccurrenceAndReason) {
  commit(log_, AdvanceJob{sample_job(), {row(HistoryStatus::failed, "Http Action - no")}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0], std::string("warning occurrence failed job=\"") + kJobId +
                           "\" occurrence=\"" + occurrence_tag(JobId{5}, 7) +
                           "\" action=\"MainAction\" retry=\"0\" took_ms=\"15\" "
                           "reason=\"Http Action - no\"");
}

TEST_F(OccurrenceLogTest, AFailureThatIsTriedAgainIsNoWarning) {
  Job job = sample_job();
  job.next = DueAttempt{kNoon, {kNoon, 7}, Origin::planned, ActionRole::main, 1};
  commit(log_, AdvanceJob{job, {row(HistoryStatus::failed)}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(lines_[0].starts_with("info    attempt failed, it is tried again"));
}

TEST_F(OccurrenceLogTest, ASuccessIsForThoseWhoWantEverything) {
  commit(log_, AdvanceJob{sample_job(), {row(HistoryStatus::completed)}});
  EXPECT_TRUE(lines_.empty());
  OccurrenceLog debug(LogLevel::debug, clock_, into_lines());
  commit(debug, AdvanceJob{sample_job(), {row(HistoryStatus::completed)}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_NE(lines_[0].find(occurrence_tag(JobId{5}, 7)), std::string::npos);
}

TEST_F(OccurrenceLogTest, WhatWasMissedIsToldWithItsSpan) {
  HistoryEntry gap = row(HistoryStatus::postponed, "nobody was there");
  gap.gap = Gap{kNoon + std::chrono::hours{1}, 60};
  commit(log_, PutJob{sample_job(), 1, {gap}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_NE(lines_[0].find("first=\"2030-01-01T00:00:00Z\" last=\"2030-01-01T01:00:00Z\" "
                           "count=\"60\" reason=\"nobody was there\""),
            std::string::npos)
      << lines_[0];
}

TEST_F(OccurrenceLogTest, WhatTheStoreDidNotTakeIsNotTold) {
  commit(log_, AdvanceJob{sample_job(), {row(HistoryStatus::failed)}}, WriteResult::refused);
  EXPECT_TRUE(lines_.empty());
}

// What a target answers may be anything: a page, a cookie, a password.
TEST_F(OccurrenceLogTest, WhatTheTargetAnsweredIsNotWrittenDown) {
  EXPECT_EQ(reason_of("Http Action - Response from host 'h': 'NotFound' Response Headers: "
                      "Set-Cookie: secret\r\n Body: secret"),
            "Http Action - Response from host 'h': 'NotFound'");
  EXPECT_EQ(reason_of(std::string(1000, 'x')).size(), OccurrenceLog::kReasonBytesMax);
}

TEST_F(OccurrenceLogTest, AFloodIsCutOffAndItsSizeTold) {
  const AdvanceJob failure{sample_job(), {row(HistoryStatus::failed)}};
  for (int i = 0; i < OccurrenceLog::kLinesMax + 23; ++i) commit(log_, failure);
  ASSERT_EQ(lines_.size(), static_cast<std::size_t>(OccurrenceLog::kLinesMax));
  lines_.clear();
  clock_.set(kNoon + OccurrenceLog::kLinesMaxIn);
  commit(log_, failure);
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_NE(lines_[0].find("left out, they came too fast count=\"23\""), std::string::npos);
  EXPECT_TRUE(lines_[1].starts_with("warning occurrence failed"));
}

}  // namespace
}  // namespace belfry
