// SPDX-License-Identifier: MIT
//
// The decision tables of docs/job-lifecycle.md, row by row.

#include "engine/settle.h"

#include <gtest/gtest.h>

#include "engine/job_changes.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Recurrence every_minute() {
  Recurrence recurrence;
  recurrence.frequency = Frequency::minute;
  return recurrence;
}

struct Wish {
  std::optional<Recurrence> recurrence;
  std::optional<RetryPolicy> retry;
  std::optional<Action> error_action;
};

RetryPolicy retries(int count, Ticks interval) {
  return {RetryType::fixed, interval, count};
}

Job waiting(const Wish& wish) {
  JobWish wanted;
  wanted.definition.edit().timing.recurrence = wish.recurrence;
  wanted.definition.edit().action.retry_policy = wish.retry;
  wanted.definition.edit().error_action = wish.error_action;
  return created(JobId{1}, {}, wanted, kNow);
}

Job started(const Wish& wish) {
  return begin(waiting(wish), kNow, CatchUp::latest).job;
}

Outcome outcome(bool succeeded, Instant at) {
  return {succeeded, "said so", at, at};
}

Settlement settled(const Job& job, bool succeeded, Instant at) {
  return settle(job, attempt_of(job), outcome(succeeded, at), at);
}

// Fails as often as the policy allows it to be tried.
Settlement exhausted(Job job, Instant at) {
  while (true) {
    Settlement settlement = settled(job, false, at);
    const bool retry = settlement.job.next && settlement.job.next->retry > 0;
    if (!retry) return settlement;
    at = settlement.job.next->due;
    job = begin(settlement.job, at, CatchUp::latest).job;
  }
}

TEST(Settle, S1SuccessLeadsToTheNextOccurrence) {
  const Settlement settlement = settled(started({every_minute(), {}, {}}), true, kNow + seconds{1});
  ASSERT_EQ(settlement.rows.size(), 1u);
  EXPECT_EQ(settlement.rows[0].status, HistoryStatus::completed);
  EXPECT_EQ(settlement.rows[0].repeat, 1);
  EXPECT_EQ(settlement.job.next->due, kNow + minutes{1});
  EXPECT_EQ(settlement.job.next->occurrence.scheduled_for, kNow + minutes{1});
  EXPECT_EQ(settlement.job.status.executions, 1);
  EXPECT_EQ(settlement.job.status.failures, 0);
}

TEST(Settle, S1SuccessOfTheLastOccurrenceCompletesTheJob) {
  const Settlement once = settled(started({}), true, kNow);
  EXPECT_EQ(once.job.state, JobState::completed);
  EXPECT_EQ(once.job.ended, kNow);
  EXPECT_FALSE(once.job.next);
  Recurrence one_time = every_minute();
  one_time.count = 1;
  EXPECT_EQ(settled(started({one_time, {}, {}}), true, kNow).job.state, JobState::completed);
}

// Counted from when the outcome was learnt: a slow target must not be hit twice at once.
TEST(Settle, S2AFailureIsRetriedAfterItsInterval) {
  const Settlement settlement =
      settled(started({{}, retries(2, minutes{5}), {}}), false, kNow + seconds{40});
  EXPECT_EQ(settlement.rows[0].status, HistoryStatus::failed);
  EXPECT_EQ(settlement.job.next->due, kNow + seconds{40} + minutes{5});
  EXPECT_EQ(settlement.job.next->retry, 1);
  EXPECT_EQ(settlement.job.next->occurrence.scheduled_for, kNow);
  EXPECT_FALSE(settlement.job.next->started);
  EXPECT_EQ(settlement.job.status.failures, 1);
  EXPECT_EQ(settlement.job.status.faults, 0);
}

TEST(Settle, WithoutAPolicyThereAreFourRetriesThirtySecondsApart) {
  Job job = started({});
  Instant at = kNow;
  for (int retry = 1; retry <= kRetryCountDefault; ++retry) {
    job = settled(job, false, at).job;
    ASSERT_TRUE(job.next);
    EXPECT_EQ(job.next->retry, retry);
    EXPECT_EQ(job.next->due, at + seconds{30});
    at = job.next->due;
    job = begin(job, at, CatchUp::latest).job;
  }
  EXPECT_EQ(settled(job, false, at).job.state, JobState::faulted);
}

TEST(Settle, S3AfterTheLastRetryTheErrorActionIsDueAtOnce) {
  const Settlement settlement = exhausted(started({{}, retries(1, minutes{1}), Action{}}), kNow);
  EXPECT_EQ(settlement.job.next->role, ActionRole::error);
  EXPECT_EQ(settlement.job.next->retry, 0);
  EXPECT_EQ(settlement.job.next->due, kNow + minutes{1});
  EXPECT_EQ(settlement.job.status.faults, 1);
  EXPECT_EQ(settlement.job.status.failures, 2);
}

TEST(Settle, S4WithoutAnErrorActionARecurringJobGoesOnAndALastOneFaults) {
  const RetryPolicy none{RetryType::none, {}, {}};
  const Settlement recurring = exhausted(started({every_minute(), none, {}}), kNow);
  EXPECT_EQ(recurring.job.state, JobState::enabled);
  EXPECT_EQ(recurring.job.next->due, kNow + minutes{1});
  EXPECT_EQ(recurring.job.status.faults, 1);
  EXPECT_EQ(exhausted(started({{}, none, {}}), kNow).job.state, JobState::faulted);
}

// The main action is without retries and has failed; the error action is on the wire, and
// would be tried once more, two minutes later.
Job trying_error_action(const std::optional<Recurrence>& recurrence) {
  Action error_action;
  error_action.retry_policy = retries(1, minutes{2});
  const RetryPolicy none{RetryType::none, {}, {}};
  const Job failed = exhausted(started({recurrence, none, error_action}), kNow).job;
  return begin(failed, kNow, CatchUp::latest).job;
}

Job trying_error_action_again(const std::optional<Recurrence>& recurrence) {
  const Job failed = settled(trying_error_action(recurrence), false, kNow).job;
  return begin(failed, kNow + minutes{2}, CatchUp::latest).job;
}

TEST(Settle, S5TheErrorActionSucceedsAndTheOccurrenceIsAFaultAllTheSame) {
  const Settlement last = settled(trying_error_action({}), true, kNow);
  EXPECT_EQ(last.job.state, JobState::faulted);
  EXPECT_EQ(last.rows[0].role, ActionRole::error);
  EXPECT_EQ(last.rows[0].status, HistoryStatus::completed);
  const Settlement recurring = settled(trying_error_action(every_minute()), true, kNow);
  EXPECT_EQ(recurring.job.state, JobState::enabled);
  EXPECT_EQ(recurring.job.next->due, kNow + minutes{1});
  EXPECT_EQ(recurring.job.next->role, ActionRole::main);
  EXPECT_EQ(recurring.job.status.faults, 1);
}

TEST(Settle, S6TheErrorActionIsRetriedByItsOwnPolicy) {
  const Settlement again = settled(trying_error_action({}), false, kNow);
  EXPECT_EQ(again.job.next->role, ActionRole::error);
  EXPECT_EQ(again.job.next->retry, 1);
  EXPECT_EQ(again.job.next->due, kNow + minutes{2});
  EXPECT_EQ(again.job.status.failures, 1) << "failures are the main action's";
}

TEST(Settle, S7TheErrorActionUsesUpItsRetries) {
  const Settlement last = settled(trying_error_action_again({}), false, kNow + minutes{2});
  EXPECT_EQ(last.job.state, JobState::faulted);
  EXPECT_EQ(last.rows[0].role, ActionRole::error);
  EXPECT_EQ(last.job.status.faults, 1);
  const Settlement recurring =
      settled(trying_error_action_again(every_minute()), false, kNow + minutes{2} + seconds{1});
  EXPECT_EQ(recurring.job.state, JobState::enabled);
  EXPECT_EQ(recurring.job.next->due, kNow + minutes{3});
  EXPECT_EQ(recurring.rows.at(1).gap, (Gap{kNow + minutes{2}, 2})) << "S8";
}

TEST(Settle, AnErrorActionWithoutAPolicyHasTheMainActions) {
  const Job main_failed = exhausted(started({{}, retries(1, minutes{3}), Action{}}), kNow).job;
  const Instant at = main_failed.next->due;
  const Settlement again = settled(begin(main_failed, at, CatchUp::latest).job, false, at);
  EXPECT_EQ(again.job.next->due, at + minutes{3});
}

// Never overlapping, and never silent: what passed meanwhile is one row.
TEST(Settle, S8WhatPassedMeanwhileIsOneRow) {
  const Settlement settlement =
      settled(started({every_minute(), {}, {}}), true, kNow + minutes{3} + seconds{30});
  ASSERT_EQ(settlement.rows.size(), 2u);
  EXPECT_EQ(settlement.rows[1].status, HistoryStatus::postponed);
  EXPECT_EQ(settlement.rows[1].occurrence.scheduled_for, kNow + minutes{1});
  EXPECT_EQ(settlement.rows[1].gap, (Gap{kNow + minutes{3}, 3}));
  EXPECT_EQ(settlement.job.next->due, kNow + minutes{4});
  EXPECT_LT(settlement.rows[1].occurrence.seq, settlement.job.next->occurrence.seq);
}

// The user asked for one more occurrence, not for one in place of another.
TEST(Settle, S9ARunDoesNotTakeThePlaceOfTheLastPlannedOccurrence) {
  Recurrence until_three = every_minute();
  until_three.end_time = kNow + minutes{3};
  const std::vector<std::pair<Job, std::size_t>> cases = {
      {waiting({}), 1},
      {waiting({until_three, {}, {}}), 2},
  };
  for (const auto& [job, rows] : cases) {
    const Job run = begin(*run_now(job, CollectionRuns::yes, kNow), kNow, CatchUp::none).job;
    const Settlement settlement = settled(run, true, kNow + minutes{9});
    EXPECT_EQ(settlement.rows.size(), rows) << "those before it are one row";
    ASSERT_TRUE(settlement.job.next);
    EXPECT_LE(settlement.job.next->due, kNow + minutes{3});
    EXPECT_EQ(settlement.job.next->origin, Origin::planned);
    const Job last = begin(settlement.job, kNow + minutes{9}, CatchUp::none).job;
    ASSERT_TRUE(last.next && last.next->started);
    EXPECT_EQ(settled(last, true, kNow + minutes{9}).job.state, JobState::completed);
  }
}

Job suspended_job(Job job) {
  job.state = JobState::disabled;
  job.next->suspended = true;
  return job;
}

TEST(Settle, S10WhileTheJobRestsARetryAndTheErrorActionWaitSuspended) {
  const Job retried =
      settled(suspended_job(started({{}, retries(2, minutes{5}), {}})), false, kNow).job;
  EXPECT_TRUE(retried.next->suspended);
  EXPECT_EQ(retried.next->retry, 1);
  EXPECT_EQ(retried.status.failures, 1);
  const RetryPolicy none{RetryType::none, {}, {}};
  const Job failed = settled(suspended_job(started({{}, none, Action{}})), false, kNow).job;
  EXPECT_TRUE(failed.next->suspended);
  EXPECT_EQ(failed.next->role, ActionRole::error);
  EXPECT_EQ(failed.state, JobState::disabled);
}

TEST(Settle, S10WhileTheJobRestsNothingIsPlannedOrPassedOver) {
  const Settlement done =
      settled(suspended_job(started({every_minute(), {}, {}})), true, kNow + minutes{5});
  EXPECT_EQ(done.rows.size(), 1u);
  EXPECT_FALSE(done.job.next);
  EXPECT_EQ(done.job.state, JobState::disabled);
}

// Nothing would come of enabling it.
TEST(Settle, S10AJobThatRestsEndsWithItsLastOccurrence) {
  Recurrence ended = every_minute();
  ended.end_time = kNow + minutes{2};
  const RetryPolicy none{RetryType::none, {}, {}};
  for (const auto& recurrence : {std::optional<Recurrence>(), std::optional(ended)}) {
    const Job job = suspended_job(started({recurrence, none, {}}));
    EXPECT_EQ(settled(job, true, kNow + minutes{3}).job.state, JobState::completed);
    EXPECT_EQ(settled(job, false, kNow + minutes{3}).job.state, JobState::faulted);
  }
}

TEST(Settle, SettlingTheSameAttemptAgainYieldsTheSame) {
  const Job job = started({every_minute(), {}, {}});
  const Settlement first = settled(job, false, kNow + seconds{2});
  const Settlement second = settled(job, false, kNow + seconds{2});
  EXPECT_EQ(first.rows, second.rows);
  EXPECT_EQ(first.job.next, second.job.next);
  EXPECT_EQ(first.job.last_seq, second.job.last_seq);
}

TEST(Begin, B1WhatIsOnTimeIsStarted) {
  const Job job = waiting({every_minute(), {}, {}});
  const Settlement settlement = begin(job, kNow + seconds{5}, CatchUp::latest);
  EXPECT_TRUE(settlement.rows.empty());
  EXPECT_EQ(settlement.job.next->started, kNow + seconds{5});
  EXPECT_EQ(settlement.job.next->occurrence, job.next->occurrence);
}

// Whatever the policy: it is no planned occurrence that somebody missed.
TEST(Begin, B1ALateRetryOrRunIsStartedAsItIs) {
  const Job retry = settled(started({every_minute(), {}, {}}), false, kNow).job;
  const Job run = *run_now(waiting({every_minute(), {}, {}}), CollectionRuns::yes, kNow);
  for (const Job& job : {retry, run}) {
    for (const CatchUp catch_up : {CatchUp::latest, CatchUp::all, CatchUp::none}) {
      const Settlement settlement = begin(job, kNow + hours{5}, catch_up);
      EXPECT_TRUE(settlement.rows.empty());
      EXPECT_EQ(settlement.job.next->started, kNow + hours{5});
      EXPECT_EQ(settlement.job.next->occurrence, job.next->occurrence);
      EXPECT_EQ(settlement.job.covered_until, job.covered_until);
    }
  }
}

TEST(Begin, B2ASingleLateOccurrenceIsStarted) {
  for (const CatchUp catch_up : {CatchUp::latest, CatchUp::all}) {
    const Settlement settlement = begin(waiting({}), kNow + hours{5}, catch_up);
    EXPECT_TRUE(settlement.rows.empty());
    EXPECT_TRUE(settlement.job.next->started);
  }
}

TEST(Begin, B3TheLatestMissedOneIsStartedAndTheOthersAreOneRow) {
  const Instant later = kNow + minutes{10} + seconds{31};
  const Settlement settlement = begin(waiting({every_minute(), {}, {}}), later, CatchUp::latest);
  ASSERT_EQ(settlement.rows.size(), 1u);
  EXPECT_EQ(settlement.rows[0].gap, (Gap{kNow + minutes{9}, 10}));
  EXPECT_EQ(settlement.rows[0].occurrence.scheduled_for, kNow);
  EXPECT_EQ(settlement.job.next->occurrence.scheduled_for, kNow + minutes{10});
  EXPECT_EQ(settlement.job.next->started, later);
  EXPECT_GT(settlement.job.next->occurrence.seq, settlement.rows[0].occurrence.seq);
}

TEST(Begin, B4AllOfThemFollowOneAfterTheOther) {
  const Instant later = kNow + minutes{2} + seconds{31};
  Job job = waiting({every_minute(), {}, {}});
  for (int i = 0; i <= 2; ++i) {
    EXPECT_EQ(job.next->occurrence.scheduled_for, kNow + minutes{i});
    const Settlement begun = begin(job, later, CatchUp::all);
    EXPECT_TRUE(begun.rows.empty());
    const Settlement done = settled(begun.job, true, later);
    EXPECT_EQ(done.rows.size(), 1u);
    job = done.job;
  }
  EXPECT_EQ(job.next->due, kNow + minutes{3});
}

TEST(Begin, B5NothingIsStartedAndOneRowSaysSo) {
  const Instant later = kNow + minutes{2} + seconds{31};
  const Settlement settlement = begin(waiting({every_minute(), {}, {}}), later, CatchUp::none);
  ASSERT_EQ(settlement.rows.size(), 1u);
  EXPECT_EQ(settlement.rows[0].gap, (Gap{kNow + minutes{2}, 3}));
  EXPECT_FALSE(settlement.job.next->started);
  EXPECT_EQ(settlement.job.next->due, kNow + minutes{3});
}

TEST(Begin, B5ALateJobWithNothingLeftHasEnded) {
  const Settlement settlement = begin(waiting({}), kNow + hours{5}, CatchUp::none);
  ASSERT_EQ(settlement.rows.size(), 1u);
  EXPECT_EQ(settlement.rows[0].gap, (Gap{kNow, 1}));
  EXPECT_FALSE(settlement.job.next);
  EXPECT_EQ(settlement.job.state, JobState::completed) << "no retry was used up";
  EXPECT_EQ(settlement.job.ended, kNow + hours{5});
}

TEST(Unstarted, IsDueLaterAndOwesTheSameOccurrence) {
  const Job job = waiting({every_minute(), {}, {}});
  const Job again = unstarted(begin(job, kNow, CatchUp::latest).job, kNow + seconds{1});
  EXPECT_EQ(again.next->due, kNow + seconds{1});
  EXPECT_EQ(again.next->occurrence, job.next->occurrence);
  EXPECT_EQ(again.covered_until, job.covered_until);
}

TEST(DueAfterRefusal, IsLaterTheLaterTheOccurrenceIsWithinBounds) {
  const RefusalBackoff backoff{std::chrono::seconds{1}, std::chrono::minutes{1}};
  const Instant planned{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
  Job job;
  job.next = DueAttempt{.due = planned, .occurrence = {planned, 1}};
  const auto waits = [&](Ticks late) {
    return due_after_refusal(job, planned + late, backoff) - (planned + late);
  };
  EXPECT_EQ(waits(Ticks{0}), backoff.least);
  EXPECT_EQ(waits(-std::chrono::hours{1}), backoff.least) << "the clock was put back";
  EXPECT_EQ(waits(std::chrono::seconds{40}), std::chrono::seconds{10});
  EXPECT_EQ(waits(std::chrono::hours{1}), backoff.most);
}

}  // namespace
}  // namespace belfry
