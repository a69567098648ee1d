// SPDX-License-Identifier: MIT

#include "app/engine_thread.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

// Stands still, and is doubted until somebody believes it.
class DoubtfulClock final : public Clock {
 public:
  Instant now() const override { return kNow; }
  bool trusted() const override { return believed; }

  std::atomic<bool> believed = false;
};

// Every target answers at once.
class QuickDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job&, Instant) override {
    ++sent;
    engine->report(attempt, {.succeeded = true, .message = "", .started = kNow, .ended = kNow});
    return true;
  }

  Engine* engine = nullptr;
  std::atomic<int> sent = 0;
};

class EngineThreadTest : public testing::Test {
 protected:
  EngineThreadTest() {
    dispatcher_.engine = &engine_;
    PutCollectionCommand collection;
    collection.collection.key = collection_key();
    collection.collection.quota.max_job_count = 1;
    submit(collection);
    PutJobCommand job;
    job.key = JobKey{collection_key(), "job"};
    job.definition.edit().action.what = HttpAction{};
    submit(job);  // without a start time it is due at once
  }

  void submit(Command command) {
    engine_.submit(std::move(command), [](const Result<Reply>& reply) { EXPECT_TRUE(reply); });
  }

  MemoryStore store_;
  QuickDispatcher dispatcher_;
  DoubtfulClock clock_;
  Engine engine_{store_, dispatcher_, Random{1}, {}};
};

// Somebody may be about to put the clock back: what is started by a wrong one cannot be undone.
TEST_F(EngineThreadTest, StartsNothingUntilTheClockIsBelieved) {
  EngineThread thread(engine_, clock_);
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 0);
  clock_.believed = true;
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 1);
}

TEST_F(EngineThreadTest, StartsNothingOnceItIsToStop) {
  EngineThread thread(engine_, clock_);
  thread.stop_starting();
  clock_.believed = true;
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 0);
}

// A virtual clock's jobs wait for its first move.
TEST_F(EngineThreadTest, StartsNothingBeforeItIsTold) {
  clock_.believed = true;
  EngineThread thread(engine_, clock_, Starts::when_told);
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 0);
  thread.start_starting();
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 1);
}

TEST_F(EngineThreadTest, HeldItStartsNothingWhateverItIsTold) {
  clock_.believed = true;
  EngineThread thread(engine_, clock_, Starts::never);
  thread.start_starting();
  thread.wait_until_idle();
  EXPECT_EQ(dispatcher_.sent, 0);
}

TEST(PatienceUntil, EndsWhenTheEngineAsksToBeCalled) {
  EXPECT_EQ(patience_until(kNow + milliseconds{3}, kNow), milliseconds{3});
  EXPECT_EQ(patience_until(kNow, kNow), Ticks{0});
  EXPECT_EQ(patience_until(kNow - hours{1}, kNow), Ticks{0});
  EXPECT_EQ(patience_until(kNow + hours{1}, kNow), seconds{1}) << "the clock may be put forward";
}

}  // namespace
}  // namespace belfry
