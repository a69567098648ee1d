// SPDX-License-Identifier: MIT
//
// What one subscription has due does not stand before what others have due.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr int kDue = 100;  // at() that second

// Takes everything, or nothing of one subscription's, and keeps the names in order.
class Target final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job& job, Instant) override {
    const std::string& whose = job.key->collection.subscription;
    if (full && whose == full_for) {
      ++refused;
      return false;
    }
    sent.push_back(whose);
    return true;
  }

  // How often each was sent since the last time.
  std::pair<std::size_t, std::size_t> take_greedy_and_modest() {
    const auto greedy = std::count(sent.begin(), sent.end(), "greedy");
    const std::size_t all = std::exchange(sent, {}).size();
    return {static_cast<std::size_t>(greedy), all - static_cast<std::size_t>(greedy)};
  }

  bool full = false;
  std::string full_for = "greedy";
  int refused = 0;
  std::vector<std::string> sent;
};

class EngineCrowd : public testing::Test {
 protected:
  EngineCrowd() {
    for (const char* subscription : {"greedy", "modest"}) {
      const CollectionKey key = key_of(subscription);
      must_apply(PutCollection{sample_collection(key)});
    }
    for (int i = 0; i < 100; ++i) put("greedy", kDue);
  }

  static CollectionKey key_of(const std::string& subscription) {
    return {.subscription = subscription, .resource_group = "g", .name = "n"};
  }

  void must_apply(const Write& write) {
    const auto results = store_.commit({write});
    ASSERT_TRUE(results && results->front() == WriteResult::applied);
  }

  void put(const std::string& subscription, std::int64_t second, Ticks more = {}) {
    const Instant due = at(second) + more;
    const std::int64_t id = ++last_id_;
    Job job = sample_job(id, fmt::format("j{}", id), key_of(subscription));
    job.definition.edit().timing = {.start_time = due, .recurrence = {}};
    must_apply(PutJob{waiting(job, due), kGenAbsent, {}});
  }

  static EngineOptions options() {
    EngineOptions options;
    options.agenda_max = 80;
    options.starts_per_step_max = 10;
    options.crowd_starts_per_step_max = 3;
    options.crowd_tries_per_step_max = 1;
    options.room_patience = Ticks{0};
    return options;
  }

  using Sent = std::pair<std::size_t, std::size_t>;

  std::int64_t last_id_ = 0;
  MemoryStore store_;
  Target target_;
  Engine engine_{store_, target_, Random{1}, options()};
};

TEST_F(EngineCrowd, OthersGoFirstAndTheCrowdHasAPartOfEachStep) {
  for (int second = 0; second < 3; ++second) put("modest", kDue + second);
  EXPECT_EQ(engine_.step(at(kDue)), at(kDue)) << "there is more to do";
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{3, 1})) << "though it was made last";
  engine_.step(at(kDue));
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{3, 0}));
  engine_.step(at(kDue + 1));
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{3, 1}));
  engine_.step(at(kDue + 2));
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{9, 1})) << "nobody waits: a whole step";
}

// A crowd whose host hangs is read, begun, refused and put off, all of it; others see none of that.
TEST_F(EngineCrowd, WhatIsRefusedDoesNotStandBeforeOthersEither) {
  target_.full = true;
  for (int second = 0; second < 60; ++second) put("modest", kDue + second);
  for (int second = 0; second < 60; ++second) {
    engine_.step(at(kDue + second));
    EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{0, 1})) << second;
  }
  target_.full = false;
  std::size_t sent = 0;
  Instant now = at(kDue + 60);
  for (int step = 0; step < 1000 && sent < 100; ++step) {
    now = std::max(now, engine_.step(now));
    sent += target_.take_greedy_and_modest().first;
  }
  EXPECT_EQ(sent, 100u) << "and none of them is lost";
}

// What is begun, refused and put off is work for nothing, and others want the processor.
TEST_F(EngineCrowd, WhatWasRefusedRestsWhileOthersHaveSomethingDueSoon) {
  target_.full = true;
  for (int second = 0; second < 3; ++second) put("modest", kDue + second);
  const Instant begun = at(kDue);
  engine_.step(begun);
  EXPECT_EQ(target_.refused, 3);
  EXPECT_EQ(engine_.step(begun), begun + Millis{100}) << "puts them off, and rests";
  engine_.step(begun + Millis{99});
  EXPECT_EQ(target_.refused, 3);
  engine_.step(begun + Millis{100});
  EXPECT_EQ(target_.refused, 4) << "then it is tried whether there is room again";
  engine_.step(at(kDue + 1));
  engine_.step(at(kDue + 2));
  const int before = target_.refused;
  engine_.step(at(kDue + 2));
  EXPECT_GT(target_.refused, before) << "nobody else has anything due: no rest";
}

// Others' hosts may hang as well: that is no reason for a crowd to wait whose own answers.
TEST_F(EngineCrowd, WhatOthersAreRefusedIsNotHeldAgainstIt) {
  target_.full = true;
  target_.full_for = "modest";
  for (int millis = 0; millis < 10'000; millis += 50) put("modest", kDue, Millis{millis});
  std::size_t sent = 0;
  for (int millis = 0; millis < 5'000 && sent < 100; millis += 50) {
    engine_.step(at(kDue) + Millis{millis});
    sent += target_.take_greedy_and_modest().first;
  }
  EXPECT_EQ(sent, 100u);
  EXPECT_GT(target_.refused, 10);
}

// A long step makes others late, and what is tried is likely to be refused again.
TEST_F(EngineCrowd, WhatWasRefusedIsOnlyTriedForASecond) {
  target_.full = true;
  for (int millis = 0; millis < 3'000; millis += 100) put("modest", kDue, Millis{millis});
  engine_.step(at(kDue));
  engine_.step(at(kDue));
  target_.full = false;
  target_.take_greedy_and_modest();
  engine_.step(at(kDue) + Millis{100});
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{1, 1}));
  engine_.step(at(kDue) + Millis{900});
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{1, 8}));
  engine_.step(at(kDue) + Millis{1'000});
  EXPECT_EQ(target_.take_greedy_and_modest(), (Sent{3, 1})) << "none was refused since";
}

}  // namespace
}  // namespace belfry
