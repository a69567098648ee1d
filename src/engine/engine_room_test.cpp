// SPDX-License-Identifier: MIT
//
// What a start does for which its target has no room: it waits a little, for a target that answers
// soon has some, and is taken back when there was none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "engine/engine.h"
#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr int kDue = 100;  // at() that second
constexpr Millis kPatience{250};

// Two targets, by the name of the job: each takes as many as it has room for.
class Targets final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job& job, Instant) override {
    ++tries;
    std::size_t& left = job.key->name.starts_with("slow") ? slow_room : room;
    if (left == 0) return false;
    --left;
    sent.push_back(attempt);
    return true;
  }

  std::size_t room = 0;
  std::size_t slow_room = 0;
  int tries = 0;
  std::deque<Attempt> sent;
};

class FailingStore final : public MemoryStore {
 public:
  Result<std::vector<WriteResult>> commit(const std::vector<Write>& batch) override {
    if (fails) return Error{ErrorCode::unavailable, "The store cannot be reached.", {}};
    return MemoryStore::commit(batch);
  }

  bool fails = false;
};

class EngineRoom : public testing::Test {
 protected:
  EngineRoom() {
    for (const CollectionKey& key : {kKey, kOthers}) {
      must_apply(PutCollection{sample_collection(key)});
    }
  }

  static EngineOptions options() {
    EngineOptions options;
    options.agenda_max = 80;
    options.starts_per_step_max = 10;
    options.room_patience = kPatience;
    options.awaiting_room_max = 40;
    options.crowd_awaiting_room_max = 30;
    options.crowd_starts_per_step_max = 5;
    return options;
  }

  void must_apply(const Write& write) {
    const auto results = store_.commit({write});
    ASSERT_TRUE(results && results->front() == WriteResult::applied);
  }

  void put(int count, const std::string& name, Millis after = {}) {
    put_in(kKey, count, name, after);
  }

  void put_in(const CollectionKey& key, int count, const std::string& name, Millis after) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t id = ++last_id_;
      Job job = sample_job(id, fmt::format("{}{}", name, id), key);
      job.definition.edit().timing = {.start_time = at(kDue) + after, .recurrence = {}};
      must_apply(PutJob{waiting(job, at(kDue) + after), kGenAbsent, {}});
    }
  }

  // The target answers so many, and has their room again.
  void answer(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      engine_.report(target_.sent.front(), {true, "done", at(kDue), at(kDue)});
      target_.sent.pop_front();
    }
    target_.room += count;
  }

  std::size_t stored_as_started() { return store_.started(1'000)->size(); }

  const CollectionKey kKey = collection_key();
  const CollectionKey kOthers{.subscription = "others", .resource_group = "g", .name = "n"};
  std::int64_t last_id_ = 0;
  FailingStore store_;
  Targets target_;
  Engine engine_{store_, target_, Random{1}, options()};
};

// Ten thousand jobs on the hour at one host that answers: none of them waits for a second because
// the host's queue was full for a moment.
TEST_F(EngineRoom, ABacklogGoesAsFastAsItsTargetAnswers) {
  put(200, "job");
  target_.room = 5;
  const Instant now = at(kDue);
  std::size_t answered = 0;
  for (int step = 0; step < 100 && answered < 200; ++step) {
    engine_.step(now);
    const std::size_t on_the_wire = target_.sent.size();
    EXPECT_EQ(on_the_wire, std::min<std::size_t>(5, 200 - answered)) << "its room is made use of";
    answer(on_the_wire);
    answered += on_the_wire;
  }
  EXPECT_EQ(answered, 200u) << "and the clock stood still";
}

// Nobody was called: there is nothing to tell of and nothing to count.
TEST_F(EngineRoom, WhatIsChangedWhileItWaitsWasNeverSent) {
  put(3, "job");
  engine_.step(at(kDue));
  ASSERT_EQ(stored_as_started(), 3u);
  const auto first = *store_.job({kKey, "job1"});
  engine_.submit(PatchJobCommand{first->key, first->definition, /*enabled=*/false, first->gen},
                 [](auto reply) { EXPECT_TRUE(reply); });
  engine_.submit(DeleteJobCommand{{kKey, "job2"}}, [](auto reply) { EXPECT_TRUE(reply); });
  target_.room = 3;
  engine_.step(at(kDue) + Millis{1});
  EXPECT_EQ(stored_as_started(), 1u);
  EXPECT_EQ(target_.sent.size(), 1u) << "of the third";
  EXPECT_EQ((*store_.job({kKey, "job1"}))->status.executions, 0);
  HistoryQuery all;
  all.job = first->id;
  all.limit = 10;
  const auto rows = store_.history(all);
  ASSERT_TRUE(rows);
  for (const HistoryEntry& row : *rows) {
    EXPECT_EQ(row.status, HistoryStatus::postponed) << row.message;
  }
}

TEST_F(EngineRoom, WhatIsStoppedWithItsCollectionWhileItWaitsWasNeverSent) {
  put(3, "job");
  engine_.step(at(kDue));
  engine_.submit(SetCollectionStateCommand{kKey, CollectionState::disabled}, [](auto) {});
  target_.room = 3;
  engine_.step(at(kDue) + Millis{1});
  EXPECT_EQ(stored_as_started(), 0u);
  EXPECT_TRUE(target_.sent.empty());
  EXPECT_EQ((*store_.job({kKey, "job1"}))->status.executions, 0);
}

// What a change leaves to be done is done.
TEST_F(EngineRoom, WhatIsChangedWhileItWaitsAndStaysEnabledIsSentAllTheSame) {
  put(1, "job");
  engine_.step(at(kDue));
  const auto job = *store_.job({kKey, "job1"});
  Shared<JobDefinition> definition = job->definition;
  std::get<HttpAction>(definition.edit().action.what).body = "other";
  engine_.submit(PatchJobCommand{job->key, definition, /*enabled=*/true, job->gen},
                 [](auto reply) { EXPECT_TRUE(reply); });
  target_.room = 1;
  engine_.step(at(kDue) + Millis{1});
  engine_.step(at(kDue) + std::chrono::seconds{2});
  EXPECT_EQ(target_.sent.size(), 1u);
  answer(1);
  engine_.step(at(kDue) + std::chrono::seconds{3});
  EXPECT_EQ((*store_.job({kKey, "job1"}))->status.executions, 1);
}

TEST_F(EngineRoom, WhatWaitsInVainIsTakenBackAndTriedLater) {
  put(3, "job");
  EXPECT_EQ(engine_.step(at(kDue)), at(kDue) + kPatience);
  EXPECT_EQ(stored_as_started(), 3u);
  EXPECT_EQ(engine_.step(at(kDue) + kPatience - Millis{1}), at(kDue) + kPatience);
  EXPECT_EQ(stored_as_started(), 3u);
  engine_.step(at(kDue) + kPatience);
  EXPECT_EQ(stored_as_started(), 0u);
  target_.room = 3;
  engine_.step(at(kDue + 1));
  EXPECT_TRUE(target_.sent.empty()) << "a second after it was taken back";
  engine_.step(at(kDue + 1) + kPatience);
  EXPECT_EQ(target_.sent.size(), 3u);
}

// What was sent meanwhile stands, though it had to wait at first: or it would be sent twice.
TEST_F(EngineRoom, WhatFoundRoomIsNotTakenBack) {
  put(3, "job");
  engine_.step(at(kDue));
  target_.room = 2;
  engine_.step(at(kDue) + Millis{10});
  EXPECT_EQ(target_.sent.size(), 2u);
  engine_.step(at(kDue) + kPatience);
  EXPECT_EQ(stored_as_started(), 2u);
}

// It was never sent, and that is known still: it need not stand until it is.
TEST_F(EngineRoom, WhatWaitsIsTakenBackAlsoWhenTheStoreFailedMeanwhile) {
  put(3, "job");
  put(1, "job", Millis{10});
  engine_.step(at(kDue));
  store_.fails = true;
  engine_.step(at(kDue) + Millis{10});
  EXPECT_FALSE(engine_.healthy());
  store_.fails = false;
  engine_.step(at(kDue) + Millis{20});
  EXPECT_EQ(stored_as_started(), 4u);
  engine_.step(at(kDue) + kPatience);
  engine_.step(at(kDue) + 2 * kPatience);
  EXPECT_EQ(stored_as_started(), 0u);
}

// After a restart nobody knows which were sent: they stand, and a host that hangs has thousands. A
// step tries some of them; those that it did not try come first in the next.
TEST_F(EngineRoom, OfWhatMayHaveBeenSentBeforeAStepTriesSome) {
  put(600, "slow");
  put(10, "job");
  Targets before;
  before.slow_room = before.room = 610;
  {
    EngineOptions all = options();
    all.agenda_max = all.starts_per_step_max = 1'000;
    Engine died(store_, before, Random{1}, all);
    died.step(at(kDue));
  }
  EXPECT_EQ(before.sent.size(), 610u);
  target_.room = 10;
  for (int step = 0; step < 3; ++step) {
    target_.tries = 0;
    engine_.step(at(kDue));
    EXPECT_LE(target_.tries, 510);
  }
  EXPECT_EQ(target_.sent.size(), 10u);
}

// A start that is changed while it waits is another one.
TEST_F(EngineRoom, WhatIsDisabledWhileItWaitsIsNotSent) {
  put(1, "job");
  engine_.step(at(kDue));
  engine_.submit(SetCollectionStateCommand{kKey, CollectionState::disabled}, [](auto) {});
  target_.room = 1;
  engine_.step(at(kDue) + Millis{10});
  engine_.step(at(kDue) + kPatience);
  EXPECT_TRUE(target_.sent.empty());
  EXPECT_EQ(stored_as_started(), 0u);
}

// More than may wait are taken back at once, as if there were no waiting.
TEST_F(EngineRoom, NoMoreWaitThanMay) {
  put(60, "job");
  for (int step = 0; step < 4; ++step) engine_.step(at(kDue));
  EXPECT_EQ(stored_as_started(), 40u);
  for (int step = 0; step < 6; ++step) engine_.step(at(kDue));
  EXPECT_EQ(stored_as_started(), 40u) << "others come and go";
}

// A crowd begins nothing that would have to be taken back, and is not looked at again and again.
TEST_F(EngineRoom, ACrowdWaitsUntilThereIsRoomOrPatienceEnds) {
  put(200, "job");
  Instant next = at(kDue);
  for (int step = 0; step < 10 && next <= at(kDue); ++step) next = engine_.step(at(kDue));
  EXPECT_EQ(stored_as_started(), 30u);
  EXPECT_EQ(next, at(kDue) + kPatience);
}

// While many wait, more would only wait with them: few are begun, in case that others' targets have
// room, and none ahead of its time.
TEST(EngineShortOfRoom, FewAreBegunAndNoneAheadOfTime) {
  MemoryStore store;
  Targets target;
  EngineOptions options;
  options.start_ahead = Millis{25};
  options.crowd_awaiting_room_max = 50;
  Engine engine(store, target, Random{1}, options);
  ASSERT_TRUE(store.commit({PutCollection{sample_collection()}}));
  for (std::int64_t id = 1; id <= 1'300; ++id) {
    Job job = sample_job(id, fmt::format("job{}", id));
    const Instant due = at(kDue) + Millis{id <= 1'000 ? 0 : 20};
    job.definition.edit().timing = {.start_time = due, .recurrence = {}};
    ASSERT_TRUE(store.commit({PutJob{waiting(job, due), kGenAbsent, {}}}));
  }
  const auto started = [&] { return store.started(10'000)->size(); };
  engine.step(at(kDue) - Millis{25});
  EXPECT_EQ(started(), 1'000u) << "nobody knew";
  EXPECT_EQ(engine.step(at(kDue)), at(kDue) + Millis{20});
  EXPECT_EQ(started(), 1'000u) << "the rest is not due yet";
  engine.step(at(kDue) + Millis{20});
  EXPECT_EQ(started(), 1'100u);
  engine.step(at(kDue) + Millis{20});
  EXPECT_EQ(started(), 1'200u);
  target.room = 1'180;
  engine.step(at(kDue) + Millis{20});
  EXPECT_EQ(target.sent.size(), 1'180u) << "there is room: those that waited go first";
  engine.step(at(kDue) + Millis{20});
  EXPECT_EQ(started(), 1'300u);
}

// Those of a target that hangs wait in front, and do not keep the others from being sent.
TEST_F(EngineRoom, TheyTakeTurns) {
  put(35, "slow");
  put(2, "job", Millis{1});
  Instant now = at(kDue) + Millis{1};
  for (int step = 0; step < 4; ++step) engine_.step(now);
  EXPECT_EQ(stored_as_started(), 37u);
  target_.room = 2;
  target_.tries = 0;
  engine_.step(now);
  EXPECT_EQ(target_.tries, 8) << "a step does not try all of them";
  for (int step = 0; step < 5; ++step) engine_.step(now);
  EXPECT_EQ(target_.sent.size(), 2u);
}

// Nor does a crowd, beside others, begin more than it may in one step before these found room.
TEST_F(EngineRoom, BesideOthersFewOfACrowdWait) {
  put(200, "job");
  put_in(kOthers, 1, "job", Millis{900});
  for (int step = 0; step < 20; ++step) engine_.step(at(kDue));
  EXPECT_EQ(stored_as_started(), 5u);
  target_.tries = 0;
  engine_.step(at(kDue));
  EXPECT_EQ(target_.tries, 2) << "others want the step to be short";
}

}  // namespace
}  // namespace belfry
