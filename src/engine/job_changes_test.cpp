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

Job run_asked_for() {
  Job job = hourly();
  job.covered_until = kNow;
  job.next->occurrence.scheduled_for = job.next->due = kNow + hours{1};
  return *run_now(job, CollectionRuns::yes, kNow + minutes{10});
}

Job disabled(const Job& job, Instant now) {
  JobWish wish{job.definition, /*enabled=*/false};
  return patched(job, wish, now)->job;
}
Job enabled(const Job& job, Instant now) {
  return patched(job, {job.definition}, now)->job;
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

// Nobody learns from silence that a retry will not come.
TEST(JobChanges, A2WhatWaitedWhenAPutCameHasARow) {
  for (const Job& job : {retry_waiting(), run_asked_for(), disabled(retry_waiting(), kNow)}) {
    JobWish daily = wish_hourly();
    daily.definition.edit().timing.recurrence->frequency = Frequency::day;
    const JobChange change = replaced(job, daily, kNow + minutes{11});
    ASSERT_EQ(change.rows.size(), 1u);
    EXPECT_EQ(change.rows[0].occurrence, job.next->occurrence);
    EXPECT_EQ(change.rows[0].retry, job.next->retry);
    EXPECT_EQ(change.rows[0].status, HistoryStatus::postponed);
    EXPECT_NE(change.rows[0].message.find("the job was replaced"), std::string::npos);
  }
}

TEST(JobChanges, A2AOneTimeJobThatWouldHaveRunLateHasARow) {
  const Job job = disabled(created(JobId{1}, {}, {}, kNow), kNow);
  EXPECT_EQ(replaced(job, wish_hourly(), kNow + hours{1}).rows.size(), 1u);
}

// Whoever deploys twice a day does not want every job to ring twice more.
TEST(JobChanges, A2AJobThatStillRecursDoesNotRingAtOnceAgain) {
  JobWish wish = wish_hourly();
  wish.definition.edit().action.retry_policy = RetryPolicy{RetryType::none, {}, {}};
  const Job job = replaced(hourly(), wish, kNow + minutes{7}).job;
  EXPECT_EQ(job.next->due, kNow + hours{1});
  wish.definition.edit().timing.recurrence->interval = 2;
  EXPECT_EQ(replaced(job, wish, kNow + minutes{90}).job.next->due, kNow + hours{2});
}

TEST(JobChanges, A2OneThatBecomesRecurringEndedOrRunsOnceRingsAtOnce) {
  const Instant now = kNow + minutes{7};
  EXPECT_EQ(replaced(created(JobId{1}, {}, {}, kNow), wish_hourly(), now).job.next->due, now);
  EXPECT_EQ(patched(created(JobId{1}, {}, {}, kNow), wish_hourly(), now)->job.next->due, now);
  EXPECT_EQ(replaced(created(JobId{1}, {}, {}, kNow), {}, now).job.next->due, now);
  Job ended = hourly();
  ended.state = JobState::completed;
  ended.next.reset();
  EXPECT_EQ(replaced(ended, wish_hourly(), now).job.next->due, now);
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

TEST(JobChanges, A4APatchOfTheTimingCountsFromNowOnTheCalendarOfBefore) {
  JobWish wish = wish_hourly();
  wish.definition.edit().timing.recurrence->frequency = Frequency::minute;
  Job job = hourly();
  job.ran = 5;
  const auto change = patched(job, wish, kNow + seconds{7});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->job.ran, 0);
  EXPECT_EQ(change->job.next->due, kNow + minutes{1});
}

TEST(JobChanges, A4AnErrorActionThatIsTakenAwayHasARow) {
  Job job = hourly();
  job.next->role = ActionRole::error;
  job.covered_until = kNow;
  for (const Job& open : {job, suspended(job, kNow).job}) {
    const JobChange change = *patched(open, {job.definition}, kNow + minutes{1});
    ASSERT_EQ(change.rows.size(), 1u);
    EXPECT_EQ(change.rows[0].role, ActionRole::error);
    EXPECT_EQ(change.job.next->due, kNow + hours{1});
  }
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

// By itself or with its collection.
TEST(JobChanges, A5WhatIsOpenIsSuspendedAndGoesOnAsItWas) {
  for (const Job& job : {on_the_wire(), retry_waiting(), run_asked_for()}) {
    const Instant later = kNow + minutes{20};
    for (const Job& off : {disabled(job, later), suspended(job, later).job}) {
      ASSERT_TRUE(off.next);
      EXPECT_TRUE(off.next->suspended);
      EXPECT_EQ(off.status, job.status);
      const Job on = off.state == JobState::enabled ? resumed(off, later + hours{5})
                                                    : enabled(off, later + hours{5});
      EXPECT_EQ(on.next, job.next);
    }
  }
}

TEST(JobChanges, A5WhatIsPlannedIsNotOwed) {
  const Job off = disabled(hourly(), kNow - seconds{1});
  EXPECT_EQ(off.state, JobState::disabled);
  EXPECT_FALSE(off.next);
}

// It was planned while the job ran.
TEST(JobChanges, A5WhatPassedBeforeHasARow) {
  const JobChange change = suspended(retry_waiting(), kNow + hours{2});
  ASSERT_EQ(change.rows.size(), 1u);
  EXPECT_EQ(change.rows[0].gap->count, 2);
}

TEST(JobChanges, A5BothTheJobAndItsCollectionMustBeEnabled) {
  const Job both = suspended(disabled(retry_waiting(), kNow), kNow).job;
  JobWish wish{both.definition};
  wish.collection_runs = CollectionRuns::no;
  const Job on = patched(both, wish, kNow)->job;
  EXPECT_EQ(on.state, JobState::enabled);
  ASSERT_TRUE(on.next);
  EXPECT_TRUE(on.next->suspended);
  EXPECT_TRUE(resumed(both, kNow).next->suspended);
  EXPECT_FALSE(resumed(on, kNow).next->suspended);
}

// What passed while it rested is not owed, and is not taken for overlapped either.
TEST(JobChanges, A6WhatPassedMeanwhileIsNotOwed) {
  const Job on = resumed(suspended(retry_waiting(), kNow).job, kNow + hours{5} + minutes{1});
  ASSERT_TRUE(on.next && on.next->retry > 0);
  const Job begun = begin(on, kNow + hours{5} + minutes{1}, CatchUp::latest).job;
  const auto settled =
      settle(begun, attempt_of(begun), {true, "", kNow, kNow}, kNow + hours{5} + minutes{2});
  EXPECT_EQ(settled.rows.size(), 1u);
  EXPECT_EQ(settled.job.next->due, kNow + hours{6});
}

TEST(JobChanges, A6EnablingPlansTheNextFutureOccurrence) {
  const Job job = suspended(hourly(), kNow).job;
  EXPECT_EQ(resumed(job, kNow + hours{5} + minutes{1}).next->due, kNow + hours{6});
}

// However the server catches up with what it missed itself.
TEST(JobChanges, A6AOneTimeJobWhoseTimeHasPassedRunsLate) {
  JobWish wish;
  wish.definition.edit().timing.start_time = kNow + hours{1};
  const Job job = created(JobId{1}, {}, wish, kNow);
  const Job on = enabled(disabled(job, kNow + hours{2}), kNow + hours{9});
  EXPECT_EQ(on.next->occurrence.scheduled_for, kNow + hours{1});
  for (const CatchUp catch_up : {CatchUp::latest, CatchUp::all, CatchUp::none}) {
    EXPECT_TRUE(begin(on, kNow + hours{9}, catch_up).job.next->started);
  }
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

TEST(JobChanges, A9RunIsAConflictWhileOnTheWireAskedForDisabledOrEnded) {
  EXPECT_FALSE(run_now(on_the_wire(), CollectionRuns::yes, kNow));
  EXPECT_FALSE(run_now(run_asked_for(), CollectionRuns::yes, kNow)) << "one of them would be lost";
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
