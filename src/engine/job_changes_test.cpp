// SPDX-License-Identifier: MIT
//
// The rows A1 to A9 of docs/job-lifecycle.md; A10 is in apply_command_test.cpp.

#include "engine/job_changes.h"

#include <gtest/gtest.h>

#include "engine/settle.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

JobWish wish_hourly() {
  JobWish wish;
  wish.definition.edit().timing.recurrence.emplace();
  wish.definition.edit().timing.recurrence->frequency = Frequency::hour;
  return wish;
}

Job hourly() {
  return created(JobId{1}, {}, wish_hourly(), kNow);
}
Job on_the_wire() {
  return begin(hourly(), kNow, CatchUp::latest).job;
}

Job retry_waiting() {
  const Job job = on_the_wire();
  return settle(job, attempt_of(job), {false, "", kNow, kNow}, kNow).job;
}

TEST(JobChanges, A1PastOccurrencesAreNotOwed) {
  JobWish wish = wish_hourly();
  wish.definition.edit().timing.start_time = kNow - hours{48} + minutes{10};
  const Job job = created(JobId{1}, {}, wish, kNow);
  EXPECT_EQ(job.next->due, kNow + minutes{10});
  EXPECT_EQ(job.gen, 1);
}

TEST(JobChanges, A1ADisabledJobOrCollectionPlansNothing) {
  JobWish wish = wish_hourly();
  wish.enabled = false;
  EXPECT_FALSE(created(JobId{1}, {}, wish, kNow).next);
  wish.enabled = true;
  wish.collection_runs = CollectionRuns::no;
  EXPECT_FALSE(created(JobId{1}, {}, wish, kNow).next);
}

TEST(JobChanges, A2PutEndsWhatIsOnTheWireWithANoteAndNumbersGoOn) {
  const Job job = on_the_wire();
  const JobChange change = replaced(job, wish_hourly(), kNow + seconds{1});
  ASSERT_GE(change.rows.size(), 1u);
  EXPECT_EQ(change.rows[0].occurrence, job.next->occurrence);
  EXPECT_EQ(change.rows[0].status, HistoryStatus::failed);
  EXPECT_EQ(change.job.status.executions, 0);
  EXPECT_EQ(change.job.gen, job.gen + 1);
  EXPECT_EQ(change.job.id, job.id);
  EXPECT_GT(change.job.next->occurrence.seq, job.last_seq);
  EXPECT_FALSE(change.job.next->started);
}

TEST(JobChanges, A3APatchOfTheActionKeepsTheRetryGoing) {
  const Job job = retry_waiting();
  JobWish wish = wish_hourly();
  std::get<HttpAction>(wish.definition.edit().action.what).uri = "http://mended.test/";
  const auto change = patched(job, wish, kNow + seconds{5});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->job.next, job.next);
  EXPECT_EQ(change->job.definition, wish.definition);
}

TEST(JobChanges, A4APatchOfTheTimingCountsFromNow) {
  JobWish wish = wish_hourly();
  wish.definition.edit().timing.recurrence->frequency = Frequency::minute;
  Job job = hourly();
  job.ran = 5;
  const auto change = patched(job, wish, kNow + seconds{7});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->job.ran, 0);
  EXPECT_EQ(change->job.next->due, kNow + seconds{7});
}

TEST(JobChanges, A4WhatIsBeingTriedGoesOnWhenTheTimingIsPatched) {
  JobWish wish = wish_hourly();
  wish.definition.edit().timing.recurrence->frequency = Frequency::day;
  for (const Job& job : {retry_waiting(), on_the_wire()}) {
    const auto change = patched(job, wish, kNow + seconds{7});
    ASSERT_TRUE(change);
    EXPECT_EQ(change->job.next->occurrence, job.next->occurrence);
    EXPECT_EQ(change->job.next->retry, job.next->retry);
    EXPECT_EQ(change->job.next->started, job.next->started);
    EXPECT_TRUE(change->rows.empty());
  }
}

TEST(JobChanges, A5WhatIsOnTheWireLeavesANoteAndCounts) {
  JobWish wish = wish_hourly();
  wish.enabled = false;
  const auto change = patched(on_the_wire(), wish, kNow + seconds{1});
  ASSERT_TRUE(change);
  ASSERT_EQ(change->rows.size(), 1u);
  EXPECT_EQ(change->rows[0].occurrence, on_the_wire().next->occurrence);
  EXPECT_EQ(change->job.status.executions, 1);
  EXPECT_EQ(change->job.ran, 1);
}

TEST(JobChanges, A5DisablingEndsTheChainAndOwesNothing) {
  JobWish wish = wish_hourly();
  wish.enabled = false;
  const auto change = patched(retry_waiting(), wish, kNow + hours{5});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->job.state, JobState::disabled);
  EXPECT_FALSE(change->job.next);
  EXPECT_FALSE(suspended(retry_waiting(), kNow).job.next);
}

TEST(JobChanges, A6EnablingPlansTheNextFutureOccurrence) {
  const Job job = suspended(hourly(), kNow).job;
  EXPECT_EQ(resumed(job, kNow + hours{5} + minutes{1}).next->due, kNow + hours{6});
}

TEST(JobChanges, A6AOneTimeJobWhoseTimeHasPassedRunsAtOnce) {
  JobWish wish;
  wish.enabled = false;
  wish.definition.edit().timing.start_time = kNow + hours{1};
  const Job job = created(JobId{1}, {}, wish, kNow);
  wish.enabled = true;
  const auto change = patched(job, wish, kNow + hours{9});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->job.next->due, kNow + hours{9});
}

TEST(JobChanges, A7RunAddsAnOccurrenceAndLeavesTheScheduleAlone) {
  const Job first =
      settle(on_the_wire(), attempt_of(on_the_wire()), {true, "", kNow, kNow}, kNow).job;
  const auto run = run_now(first, CollectionRuns::yes, kNow + minutes{10});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->next->due, kNow + minutes{10});
  EXPECT_EQ(run->next->origin, Origin::extra);
  const Job begun = begin(*run, kNow + minutes{10}, CatchUp::latest).job;
  const Job after =
      settle(begun, attempt_of(begun), {true, "", kNow, kNow}, kNow + minutes{10}).job;
  EXPECT_EQ(after.next->due, kNow + hours{1});
  EXPECT_EQ(after.status.executions, 2);
  EXPECT_EQ(after.ran, 1);
}

TEST(JobChanges, A8RunMakesAWaitingRetryDueNow) {
  const auto run = run_now(retry_waiting(), CollectionRuns::yes, kNow + seconds{3});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->next->due, kNow + seconds{3});
  EXPECT_EQ(run->next->retry, 1);
}

TEST(JobChanges, A9RunIsAConflictWhileOnTheWireDisabledOrEnded) {
  EXPECT_FALSE(run_now(on_the_wire(), CollectionRuns::yes, kNow));
  EXPECT_FALSE(run_now(hourly(), CollectionRuns::no, kNow));
  for (const JobState state : {JobState::disabled, JobState::completed, JobState::faulted}) {
    Job job = hourly();
    job.state = state;
    job.next.reset();
    const auto run = run_now(job, CollectionRuns::yes, kNow);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::conflict);
  }
}

TEST(JobChanges, AFinalJobCannotBePatchedButReplaced) {
  Job job = hourly();
  job.state = JobState::completed;
  job.next.reset();
  const auto change = patched(job, wish_hourly(), kNow);
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().code, ErrorCode::conflict);
  EXPECT_EQ(replaced(job, wish_hourly(), kNow).job.state, JobState::enabled);
}

}  // namespace
}  // namespace belfry
