// SPDX-License-Identifier: MIT

#include "api/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>

namespace belfry {
namespace {

// One thread, which is held until everything that a test posts is waiting.
class HeldPool {
 public:
  explicit HeldPool(WorkerLimits limits) : pool_(1, limits) {
    pool_.post([this] {
      held_.count_down();
      released_.wait();
    });
    held_.wait();
  }
  ~HeldPool() { released(); }

  bool begin(const std::string& client) {
    return pool_.try_post(client, [this, client] { order_ += client; });
  }
  void go_on(const std::string& what) {
    pool_.post([this, what] { order_ += what; });
  }

  // In which order all of it was done.
  std::string order() {
    released();
    pool_.finish();
    return order_;
  }

 private:
  void released() {
    if (!released_.try_wait()) released_.count_down();
  }

  std::latch held_{1};
  std::latch released_{1};
  std::string order_;
  WorkerPool pool_;
};

TEST(WorkerPool, ClientsTakeTurnsAndWhatWasBegunGoesFirst) {
  HeldPool pool({});
  for (const char* client : {"a", "a", "a", "a", "b"}) EXPECT_TRUE(pool.begin(client));
  pool.go_on("!");
  EXPECT_EQ(pool.order(), "!abaaa");
}

TEST(WorkerPool, RefusesWhatIsTooMuchInAllAndOfOneClient) {
  HeldPool pool({.waiting_max = 4, .waiting_per_client_max = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool.begin("a"));
  EXPECT_FALSE(pool.begin("a")) << "its part is taken";
  EXPECT_TRUE(pool.begin("b")) << "what is left is left to others";
  EXPECT_FALSE(pool.begin("c"));
  pool.go_on("!");
  EXPECT_EQ(pool.order(), "!abaa");
}

// Both would wait for ever if nobody else took the next.
TEST(WorkerPool, OthersTakeOverFromWorkThatStepsAside) {
  std::latch done{1};
  WorkerPool pool(2, {});
  pool.post([&] {
    pool.step_aside();
    pool.post([&] { done.count_down(); });
    done.wait();
  });
  pool.finish();
}

void step_aside_from_outside() {
  WorkerPool pool(1, {});
  pool.step_aside();
}

TEST(WorkerPoolDeathTest, OnlyItsOwnWorkStepsAside) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(step_aside_from_outside(), "working_for == this");
}

TEST(WorkerPool, ManyThatWaitWakeAnother) {
  std::latch done{kWaitingPerWorker + 1};
  WorkerPool pool(2, {});
  pool.post([&] { done.wait(); });
  for (std::size_t i = 0; i <= kWaitingPerWorker; ++i) pool.post([&] { done.count_down(); });
  pool.finish();
}

}  // namespace
}  // namespace belfry
