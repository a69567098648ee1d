// SPDX-License-Identifier: MIT

#include "metrics/run_metrics.h"

#include <gtest/gtest.h>

#include <map>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kNoon = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}} + hours{12};

// Every value by its name and, in parentheses, its label.
std::map<std::string, double> values_of(const RunMetrics& metrics) {
  std::map<std::string, double> values;
  for (const auto& family : metrics.collect()) {
    for (const auto& metric : family.metric) {
      const std::string label = metric.label.empty() ? "" : "(" + metric.label.front().value + ")";
      values[family.name + label] = family.type == prometheus::MetricType::Histogram
                                        ? metric.histogram.sample_sum
                                        : metric.counter.value;
    }
  }
  return values;
}

HistoryEntry row(ActionRole role, int retry, HistoryStatus status) {
  HistoryEntry row;
  row.occurrence = {kNoon, 7};
  row.role = role;
  row.retry = retry;
  row.status = status;
  return row;
}

HistoryEntry gap(std::int64_t count) {
  HistoryEntry row;
  row.status = HistoryStatus::postponed;
  row.gap = Gap{kNoon, count};
  return row;
}

Job job_that_tries_next(ActionRole role, int retry) {
  Job job;
  job.next = DueAttempt{kNoon, {kNoon, 7}, Origin::planned, role, retry};
  return job;
}

class RunMetricsTest : public testing::Test {
 protected:
  void commit(std::vector<Write> writes, WriteResult result = WriteResult::applied) {
    metrics_.committing();
    metrics_.committed(writes, std::vector(writes.size(), result));
  }
  double value(const std::string& name) const { return values_of(metrics_).at(name); }

  RunMetrics metrics_;
};

TEST_F(RunMetricsTest, AFirstAttemptSaysHowLateItWas) {
  metrics_.reported({JobId{1}, {kNoon, 1}}, {true, "", kNoon + seconds{2}, kNoon + seconds{5}});
  EXPECT_EQ(value("belfry_start_lateness_seconds"), 2);
  EXPECT_EQ(value("belfry_attempt_duration_seconds"), 3);
  EXPECT_EQ(value("belfry_attempts_total(completed)"), 1);
  EXPECT_EQ(value("belfry_retries_total"), 0);
}

// A retry comes an hour later because its policy says so: nobody was late.
TEST_F(RunMetricsTest, ARetryAndAnErrorActionAreNotLate) {
  const Outcome failed{false, "", kNoon + hours{1}, kNoon + hours{1} + milliseconds{500}};
  metrics_.reported({JobId{1}, {kNoon, 1}, ActionRole::main, 1}, failed);
  metrics_.reported({JobId{1}, {kNoon, 1}, ActionRole::error, 0}, failed);
  EXPECT_EQ(value("belfry_start_lateness_seconds"), 0);
  EXPECT_EQ(value("belfry_attempt_duration_seconds"), 1);
  EXPECT_EQ(value("belfry_attempts_total(failed)"), 2);
  EXPECT_EQ(value("belfry_retries_total"), 1);
}

TEST_F(RunMetricsTest, AnOccurrenceFailsOnceWhenItsLastRetryHas) {
  for (const int retry : {0, 1}) {
    commit({AdvanceJob{job_that_tries_next(ActionRole::main, retry + 1),
                       {row(ActionRole::main, retry, HistoryStatus::failed)}}});
  }
  EXPECT_EQ(value("belfry_occurrences_total(failed)"), 0);
  commit({AdvanceJob{job_that_tries_next(ActionRole::error, 0),
                     {row(ActionRole::main, 2, HistoryStatus::failed)}}});
  commit({AdvanceJob{Job{}, {row(ActionRole::error, 0, HistoryStatus::completed)}}});
  EXPECT_EQ(value("belfry_occurrences_total(failed)"), 1);
  EXPECT_EQ(value("belfry_occurrences_total(completed)"), 0);
}

TEST_F(RunMetricsTest, AnOccurrenceCompletesWithItsMainAction) {
  commit({AdvanceJob{Job{}, {row(ActionRole::main, 3, HistoryStatus::completed)}}});
  EXPECT_EQ(value("belfry_occurrences_total(completed)"), 1);
  EXPECT_EQ(value("belfry_occurrences_total(failed)"), 0);
}

TEST_F(RunMetricsTest, WhatWasMissedIsCountedByItsReason) {
  commit({AdvanceJob{Job{}, {row(ActionRole::main, 0, HistoryStatus::completed), gap(3)}},
          AdvanceJob{Job{}, {gap(40)}}, PutJob{Job{}, 1, {gap(500)}}});
  EXPECT_EQ(value("belfry_missed_occurrences_total(overlap)"), 3);
  EXPECT_EQ(value("belfry_missed_occurrences_total(not_started)"), 40);
  EXPECT_EQ(value("belfry_missed_occurrences_total(changed)"), 500);
  EXPECT_EQ(value("belfry_occurrences_total(missed)"), 543);
}

// The note that stands for an attempt on the wire is replaced by the attempt's own row.
TEST_F(RunMetricsTest, ASupersededAttemptIsCountedWhenItsOutcomeIsKnown) {
  commit({PutJob{Job{}, 1, {row(ActionRole::main, 0, HistoryStatus::failed)}}});
  EXPECT_EQ(value("belfry_occurrences_total(failed)"), 0);
  commit({AddHistory{{row(ActionRole::main, 0, HistoryStatus::completed)}}});
  EXPECT_EQ(value("belfry_occurrences_total(completed)"), 1);
  EXPECT_EQ(value("belfry_occurrences_total(failed)"), 0);
}

TEST_F(RunMetricsTest, WhatTheStoreDidNotTakeIsNotCounted) {
  const AdvanceJob advance{Job{}, {row(ActionRole::main, 0, HistoryStatus::completed)}};
  commit({advance}, WriteResult::refused);
  metrics_.committing();
  metrics_.commit_failed();
  EXPECT_EQ(value("belfry_occurrences_total(completed)"), 0);
  EXPECT_EQ(value("belfry_commit_failures_total"), 1);
}

}  // namespace
}  // namespace belfry
