// SPDX-License-Identifier: MIT

#include "engine/agenda.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using std::chrono::seconds;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Job due_in(std::int64_t id, int in_seconds) {
  Job job;
  job.id = JobId{id};
  job.key = JobKey{{"sub", "group", "first"}, "job"};
  job.next = DueAttempt{.due = kNow + seconds{in_seconds}, .occurrence = {}};
  return job;
}

Job started(Job job) {
  job.next->started = kNow;
  return job;
}

TEST(Agenda, WantsToBeLoadedUntilItKnowsThatThereIsNothing) {
  Agenda agenda(3);
  EXPECT_EQ(agenda.loads_at(), kFirstInstant);
  agenda.load({});
  EXPECT_EQ(agenda.loads_at(), Agenda::kNever);
  EXPECT_EQ(agenda.horizon().due, Agenda::kNever);
  EXPECT_EQ(agenda.earliest(), std::nullopt);
}

TEST(Agenda, GivesTheEarliestFirstAndJobsOfOneInstantByTheirId) {
  Agenda agenda(9);
  agenda.load({due_in(3, 5), due_in(1, 5), due_in(2, 4)});
  EXPECT_EQ(agenda.earliest(), kNow + seconds{4});
  EXPECT_EQ(agenda.take_first().id, JobId{2});
  EXPECT_EQ(agenda.take_first().id, JobId{1});
  EXPECT_EQ(agenda.take_first().id, JobId{3});
  EXPECT_EQ(agenda.size(), 0u);
}

// As many as were asked for: others may be due with the last one, so from there on the store
// is asked again.
TEST(Agenda, AFullLoadReachesOnlyToItsLastJob) {
  Agenda agenda(2);
  agenda.load({due_in(1, 1), due_in(2, 7)});
  EXPECT_EQ(agenda.horizon(), (DuePlace{kNow + seconds{7}, JobId{3}})) << "right behind its last";
  agenda.update(due_in(3, 7));
  agenda.update(due_in(4, 8));
  EXPECT_EQ(agenda.size(), 2u) << "beyond the horizon the store knows";
  agenda.take_first();
  agenda.take_first();
  EXPECT_EQ(agenda.loads_at(), kNow + seconds{6}) << "a second before anything is due";
}

TEST(Agenda, KnowsNothingOfWhatItWasNotAskedToLookAt) {
  Agenda agenda(2);
  agenda.load({due_in(1, 1)}, kNow + seconds{60});
  agenda.update(due_in(2, 59));
  agenda.update(due_in(3, 60));
  EXPECT_EQ(agenda.take_first().id, JobId{1});
  EXPECT_EQ(agenda.loads_at(), Agenda::kNever);
  EXPECT_EQ(agenda.take_first().id, JobId{2});
  EXPECT_EQ(agenda.loads_at(), kNow + seconds{59});
}

TEST(Agenda, AChangedJobMovesAndIsThereOnce) {
  Agenda agenda(9);
  agenda.load({due_in(1, 1), due_in(2, 2)});
  agenda.update(due_in(1, 3));
  EXPECT_EQ(agenda.size(), 2u);
  EXPECT_EQ(agenda.take_first().id, JobId{2});
  EXPECT_EQ(agenda.take_first().next->due, kNow + seconds{3});
}

TEST(Agenda, WhatWaitsForNothingIsForgotten) {
  Agenda agenda(9);
  agenda.load({due_in(1, 1), due_in(2, 2)});
  agenda.update(started(due_in(1, 1)));
  Job ended = due_in(2, 2);
  ended.next.reset();
  agenda.update(ended);
  EXPECT_EQ(agenda.size(), 0u);
  agenda.forget(JobId{2});  // again: no harm
}

TEST(Agenda, AJobThatMovesBeyondTheHorizonIsForgotten) {
  Agenda agenda(2);
  agenda.load({due_in(1, 1), due_in(2, 7)});
  agenda.update(due_in(1, 100));
  EXPECT_EQ(agenda.take_first().id, JobId{2});
  EXPECT_EQ(agenda.size(), 0u);
}

// New jobs that are all due soon: the agenda does not grow without bounds, and what it lets go
// of lies at or beyond its new horizon.
TEST(Agenda, NeverHoldsMoreThanTwiceItsSizeAndDropsTheLatest) {
  constexpr int kSize = 4;
  Agenda agenda(kSize);
  agenda.load({});
  for (int i = 100; i > 0; --i) {
    agenda.update(due_in(i, i));
    EXPECT_LE(agenda.size(), 2u * kSize);
  }
  Instant last = kNow;
  while (agenda.earliest()) {
    EXPECT_LT(*agenda.earliest(), agenda.horizon().due);
    EXPECT_EQ(agenda.take_first().next->due, last + seconds{1}) << "none before it is missing";
    last += seconds{1};
  }
  EXPECT_LT(agenda.loads_at(), agenda.horizon().due);
}

// Of jobs that are due in one instant it knows some, and the store the others.
TEST(Agenda, ReachesIntoTheMiddleOfAnInstant) {
  Agenda agenda(2);
  agenda.load({due_in(4, 7), due_in(6, 7)});
  agenda.update(due_in(5, 7));
  EXPECT_EQ(agenda.size(), 3u) << "before its last";
  agenda.update(due_in(7, 7));
  EXPECT_EQ(agenda.size(), 3u) << "behind its last: the store has it";
  agenda.load({due_in(7, 7), due_in(9, 7)});
  EXPECT_EQ(agenda.horizon(), (DuePlace{kNow + seconds{7}, JobId{10}}));
  for (int id = 1; id <= 3; ++id) agenda.update(due_in(id, 7));
  EXPECT_LE(agenda.size(), 4u);
  EXPECT_EQ(agenda.horizon(), (DuePlace{kNow + seconds{7}, JobId{5}})) << "what it let go";
}

TEST(Agenda, KnowsTheJobsOfACollectionHoweverItIsSpelt) {
  Agenda agenda(9);
  Job other = due_in(2, 2);
  other.key.edit().collection.name = "second";
  agenda.load({due_in(1, 1), other});
  EXPECT_EQ(agenda.jobs_of({"SUB", "Group", "FIRST"}), std::vector<JobId>{JobId{1}});
}

TEST(Agenda, ClearedItKnowsNothingAndWantsToBeLoaded) {
  Agenda agenda(9);
  agenda.load({due_in(1, 1)});
  agenda.clear();
  EXPECT_EQ(agenda.earliest(), std::nullopt);
  EXPECT_EQ(agenda.loads_at(), kFirstInstant);
}

}  // namespace
}  // namespace belfry
