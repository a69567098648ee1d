// SPDX-License-Identifier: MIT

#include "engine/planning.h"

#include <gtest/gtest.h>

#include "engine/job_changes.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Job every(int interval, Frequency frequency, std::optional<Instant> start = {}) {
  JobWish wish;
  wish.definition.edit().timing.start_time = start;
  wish.definition.edit().timing.recurrence.emplace();
  wish.definition.edit().timing.recurrence->frequency = frequency;
  wish.definition.edit().timing.recurrence->interval = interval;
  return created(JobId{1}, {}, wish, kNow);
}

Job once(std::optional<Instant> start) {
  JobWish wish;
  wish.definition.edit().timing.start_time = start;
  return created(JobId{1}, {}, wish, kNow);
}

TEST(Planning, WithoutAStartTimeTheFirstOccurrenceIsWhenTheJobWasDefined) {
  const Job job = every(1, Frequency::hour);
  EXPECT_EQ(planned_after(job, kNow - days{1}), kNow);
  EXPECT_EQ(planned_after(job, kNow), kNow + hours{1});
}

// A schedule need not name the moment at which the job was defined; it runs then all the same,
// but not again after it ran.
TEST(Planning, TheFirstRunAtOnceIsPlannedOnlyOnce) {
  Job job = every(1, Frequency::day);
  job.definition.edit().timing.recurrence->schedule.hours = SmallSet::single(9);
  job.definition.edit().timing.recurrence->schedule.minutes = SmallSet::single(0);
  EXPECT_EQ(planned_after(job, kNow - kOneTick), kNow);
  job.ran = 1;
  EXPECT_EQ(planned_after(job, kNow - kOneTick), kNow + hours{9});
}

TEST(Planning, AJobThatRunsOnceHasNothingAfterIt) {
  const Job later = once(kNow + hours{3});
  EXPECT_EQ(planned_after(later, kNow), kNow + hours{3});
  EXPECT_EQ(planned_after(later, kNow + hours{3}), std::nullopt);
  const Job past = once(kNow - days{9});
  EXPECT_EQ(planned_after(past, kNow - kOneTick), kNow) << "its time had passed: at once";
}

TEST(Planning, CountAndEndBoundWhatIsPlanned) {
  Job job = every(1, Frequency::hour);
  job.definition.edit().timing.recurrence->end_time = kNow + hours{2};
  EXPECT_EQ(planned_after(job, kNow + hours{1}), kNow + hours{2}) << "exactly then still runs";
  EXPECT_EQ(planned_after(job, kNow + hours{2}), std::nullopt);
  job.definition.edit().timing.recurrence->count = 3;
  job.ran = 3;
  EXPECT_EQ(planned_after(job, kNow), std::nullopt);
}

TEST(Planning, MissedAreThoseAfterWhatIsCoveredUpToAndWithTheInstant) {
  Job job = every(1, Frequency::hour);
  job.covered_until = kNow;
  EXPECT_FALSE(missed_until(job, kNow + hours{1} - kOneTick));
  const auto missed = missed_until(job, kNow + hours{3});
  ASSERT_TRUE(missed);
  EXPECT_EQ(missed->first, kNow + hours{1});
  EXPECT_EQ(missed->last, kNow + hours{3});
  EXPECT_EQ(missed->count, 3);
}

// Nobody waits for a million of them to be counted; but where the gap ends must be exact, for
// the next occurrence is planned from there.
TEST(Planning, AGapBeyondTheLimitIsCountedToTheLimitAndEndsExactly) {
  Job job = every(1, Frequency::minute);
  job.covered_until = kNow;
  const Instant until = kNow + minutes{1'000'000} + minutes{1} / 2;
  const auto missed = missed_until(job, until);
  ASSERT_TRUE(missed);
  EXPECT_EQ(missed->count, kGapCountMax);
  EXPECT_EQ(missed->last, kNow + minutes{1'000'000});
  EXPECT_NE(record_gap(job, *missed, until, "why").message.find("At least 100000"),
            std::string::npos);
  EXPECT_EQ(planned_after(job, job.covered_until), kNow + minutes{1'000'001});
}

TEST(Planning, AGapIsOneRowAndIsOwedNoLonger) {
  Job job = every(1, Frequency::hour);
  const std::int64_t seq = job.last_seq;
  const HistoryEntry row =
      record_gap(job, {kNow, kNow + hours{2}, 3}, kNow + hours{2}, "it was late");
  EXPECT_EQ(row.status, HistoryStatus::postponed);
  EXPECT_EQ(row.occurrence, (Occurrence{kNow, seq + 1}));
  EXPECT_EQ(row.gap, (Gap{kNow + hours{2}, 3}));
  EXPECT_EQ(job.last_seq, seq + 1);
  EXPECT_EQ(job.covered_until, kNow + hours{2});
  EXPECT_FALSE(missed_until(job, kNow + hours{2}));
}

TEST(Planning, AGapNeverTakesBackWhatIsCovered) {
  Job job = every(1, Frequency::hour);
  job.covered_until = kNow + days{1};
  record_gap(job, {kNow, kNow, 1}, kNow + days{1}, "it was late");
  EXPECT_EQ(job.covered_until, kNow + days{1});
}

TEST(Planning, AJobWithNothingLeftEndsAsItsLastOccurrenceDid) {
  for (const auto& [last, state] : {std::pair{LastOccurrence::passed, JobState::completed},
                                    std::pair{LastOccurrence::failed, JobState::faulted}}) {
    Job job = once(kNow);
    job.covered_until = kNow;
    plan_next(job, kNow + minutes{1}, last);
    EXPECT_EQ(job.state, state);
    EXPECT_EQ(job.ended, kNow + minutes{1});
    EXPECT_FALSE(job.next);
  }
}

TEST(Planning, EveryPlannedOccurrenceHasANumberOfItsOwn) {
  Job job = every(1, Frequency::hour);
  const std::int64_t first = job.next->occurrence.seq;
  job.covered_until = kNow;
  plan_next(job, kNow, LastOccurrence::passed);
  EXPECT_EQ(job.next->occurrence, (Occurrence{kNow + hours{1}, first + 1}));
  EXPECT_EQ(job.last_seq, first + 1);
}

}  // namespace
}  // namespace belfry
