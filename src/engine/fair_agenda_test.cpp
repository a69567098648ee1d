// SPDX-License-Identifier: MIT

#include "engine/fair_agenda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace belfry {
namespace {

std::optional<Instant> earliest_of(const FairAgenda& agenda) {
  const auto other = agenda.others().earliest();
  const auto crowd = agenda.crowd().earliest();
  if (!other || !crowd) return other ? other : crowd;
  return std::min(*other, *crowd);
}

using std::chrono::seconds;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Job due_in(std::int64_t id, const std::string& subscription, int in_seconds) {
  Job job;
  job.id = JobId{id};
  job.key = JobKey{{subscription, "group", "first"}, "job"};
  job.next = DueAttempt{.due = kNow + seconds{in_seconds}, .occurrence = {}};
  return job;
}

// What a store would answer.
class Jobs {
 public:
  void add(const Job& job) { jobs_[{job.next->due, job.id}] = job; }
  void remove(const Job& job) { jobs_.erase({job.next->due, job.id}); }
  void add_many(std::int64_t first, int count, const std::string& subscription, int in_seconds) {
    for (int i = 0; i < count; ++i) add(due_in(first + i, subscription, in_seconds));
  }

  std::vector<Job> due(const DueQuery& query) const {
    std::vector<Job> out;
    for (const auto& [place, job] : jobs_) {
      const std::string whose = folded(job.key->collection.subscription);
      const auto& named = query.subscriptions;
      const bool theirs = std::find(named.begin(), named.end(), whose) != named.end();
      if (out.size() >= query.limit || place.first >= query.before) break;
      if (DuePlace{place.first, place.second} < query.from) continue;
      if (theirs == (query.of == DueOf::them)) out.push_back(job);
    }
    return out;
  }

 private:
  std::map<std::pair<Instant, JobId>, Job> jobs_;
};

class FairAgendaTest : public testing::Test {
 protected:
  void refill(Instant now) {
    for (int loads = 0; const auto wanted = agenda_.wants_load(now); ++loads) {
      ASSERT_LT(loads, 40) << "it must end";
      agenda_.load(*wanted, jobs_.due(*wanted), now);
    }
  }

  // Takes what is due, as a step would.
  std::vector<std::int64_t> take(Agenda& agenda, std::size_t count, Instant now) {
    std::vector<std::int64_t> ids;
    while (ids.size() < count && agenda.earliest() && *agenda.earliest() <= now) {
      const Job job = agenda.take_first();
      jobs_.remove(job);
      ids.push_back(static_cast<std::int64_t>(job.id));
    }
    return ids;
  }

  using Ids = std::vector<std::int64_t>;

  Jobs jobs_;
  FairAgenda agenda_{8};
};

TEST_F(FairAgendaTest, IsOneAgendaAsLongAsWhatIsDueFits) {
  jobs_.add_many(1, 7, "greedy", 0);
  jobs_.add(due_in(100, "modest", 0));
  jobs_.add(due_in(101, "modest", 5));
  refill(kNow - seconds{1});
  EXPECT_FALSE(agenda_.crowded()) << "none of them is due yet";
  EXPECT_EQ(take(agenda_.others(), 9, kNow), (Ids{1, 2, 3, 4, 5, 6, 7, 100}));
}

// In one instant, and after it: what is on time stays on time, whatever a neighbour has.
TEST_F(FairAgendaTest, ACrowdDoesNotStandBeforeTheJobsOfOthers) {
  jobs_.add_many(1, 1000, "Greedy", 0);
  jobs_.add(due_in(2000, "modest", 0));
  jobs_.add(due_in(2001, "modest", 1));
  refill(kNow);
  EXPECT_TRUE(agenda_.crowded());
  EXPECT_EQ(earliest_of(agenda_), kNow);
  EXPECT_EQ(take(agenda_.others(), 9, kNow), Ids{2000});
  EXPECT_EQ(take(agenda_.crowd(), 2, kNow), (Ids{1, 2}));
  const auto wanted = agenda_.wants_load(kNow);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->of, DueOf::them) << "of the others all is there";
  EXPECT_EQ(wanted->before, kNow + seconds{1});
  agenda_.update(due_in(2002, "modest", 1));
  EXPECT_EQ(take(agenda_.others(), 9, kNow + seconds{1}), (Ids{2001, 2002}));
}

TEST_F(FairAgendaTest, ACrowdIsWorkedOffWholeAndThenItIsOneAgendaAgain) {
  jobs_.add_many(1, 100, "greedy", 0);
  jobs_.add(due_in(2000, "modest", 9));
  Ids taken;
  for (int step = 0; step < 100 && taken.size() < 100; ++step) {
    refill(kNow);
    for (const std::int64_t id : take(agenda_.crowd(), 3, kNow)) taken.push_back(id);
  }
  EXPECT_EQ(taken.size(), 100u);
  refill(kNow);
  EXPECT_FALSE(agenda_.crowded());
  EXPECT_EQ(earliest_of(agenda_), kNow + seconds{9});
}

// What a target refuses is due again little by little: to load everything anew each time costs
// more.
TEST_F(FairAgendaTest, ItStaysACrowdWhileItHasSomethingDueWithinASecond) {
  jobs_.add_many(1, 10, "greedy", 0);
  Job soon = due_in(11, "greedy", 1);
  soon.next->due -= kOneTick;
  jobs_.add(soon);
  jobs_.add(due_in(12, "greedy", 3));
  for (int step = 0; step < 5; ++step) {
    refill(kNow);
    take(agenda_.crowd(), 2, kNow);
  }
  refill(kNow);
  EXPECT_TRUE(agenda_.crowded());
  EXPECT_EQ(agenda_.crowd().earliest(), soon.next->due);
  EXPECT_EQ(take(agenda_.crowd(), 9, kNow + seconds{1}), Ids{11});
  refill(kNow + seconds{1});
  EXPECT_FALSE(agenda_.crowded()) << "the next one is due in two seconds";
}

// To look through all that a subscription has, ten million jobs that are due next month, would hold
// everybody up.
TEST_F(FairAgendaTest, BesideACrowdTheStoreIsAskedForAMinuteAtATime) {
  jobs_.add_many(1, 1000, "greedy", 0);
  jobs_.add(due_in(2000, "modest", 59));
  jobs_.add(due_in(2001, "modest", 60));
  refill(kNow);
  EXPECT_EQ(agenda_.others().horizon().due, kNow + seconds{60});
  EXPECT_EQ(take(agenda_.others(), 9, kNow + seconds{60}), Ids{2000});
  EXPECT_EQ(agenda_.loads_at(), kNow + seconds{59});
  const auto wanted = agenda_.wants_load(kNow + seconds{59});
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->from.due, kNow + seconds{60}) << "nor are those passed over again that were";
  refill(kNow + seconds{59});
  EXPECT_EQ(take(agenda_.others(), 9, kNow + seconds{60}), Ids{2001});
}

// Also where nobody else has anything.
TEST_F(FairAgendaTest, ACrowdAloneIsNotAskedForOthersAgainAndAgain) {
  jobs_.add_many(1, 1000, "greedy", 0);
  refill(kNow);
  EXPECT_EQ(agenda_.others().loads_at(), kNow + seconds{59});
  EXPECT_EQ(agenda_.wants_load(kNow + seconds{58}), std::nullopt);
}

TEST_F(FairAgendaTest, ThereMayBeSeveralCrowds) {
  jobs_.add_many(1, 50, "a", 0);
  jobs_.add_many(101, 50, "b", 0);
  jobs_.add(due_in(2000, "modest", 0));
  refill(kNow);
  EXPECT_EQ(take(agenda_.others(), 9, kNow), Ids{2000});
  EXPECT_EQ(agenda_.crowd().earliest(), kNow);
}

// Where all have much to do nobody is a crowd: first come, first served.
TEST_F(FairAgendaTest, WhereNobodyHasMostThereIsNoCrowd) {
  for (int i = 0; i < 100; ++i) jobs_.add(due_in(1 + i, std::string(1, "abc"[i % 3]), 0));
  refill(kNow);
  EXPECT_FALSE(agenda_.crowded());
  EXPECT_EQ(take(agenda_.others(), 3, kNow), (Ids{1, 2, 3}));
}

TEST_F(FairAgendaTest, CrowdsHaveALimitToo) {
  for (int crowd = 0; crowd < 20; ++crowd) {
    jobs_.add_many(1 + 100 * crowd, 50, "s" + std::to_string(crowd), 0);
  }
  refill(kNow);
  EXPECT_EQ(agenda_.wants_load(kNow), std::nullopt);
  EXPECT_EQ(agenda_.others().size(), 8u) << "the seventeenth stays among the others";
}

TEST_F(FairAgendaTest, WhatIsChangedOrGoneIsSoInBoth) {
  jobs_.add_many(1, 100, "greedy", 0);
  jobs_.add(due_in(2000, "modest", 3));
  refill(kNow);
  EXPECT_EQ(agenda_.jobs_of({"greedy", "group", "first"}).size(), 2u);
  EXPECT_EQ(agenda_.jobs_of({"modest", "group", "first"}).size(), 1u);
  agenda_.forget(JobId{1});
  agenda_.forget(JobId{2000});
  EXPECT_EQ(take(agenda_.crowd(), 1, kNow), Ids{2});
  EXPECT_EQ(agenda_.others().earliest(), std::nullopt);
  agenda_.clear();
  EXPECT_EQ(earliest_of(agenda_), std::nullopt);
  EXPECT_FALSE(agenda_.crowded());
  EXPECT_NE(agenda_.wants_load(kNow), std::nullopt);
}

}  // namespace
}  // namespace belfry
