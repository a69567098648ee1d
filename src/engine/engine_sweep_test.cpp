// SPDX-License-Identifier: MIT
//
// How much of what is old is removed at a time.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class Target final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job&, Instant) override {
    sent.push_back(attempt);
    return true;
  }

  std::vector<Attempt> sent;
};

class EngineSweep : public testing::Test {
 protected:
  static constexpr int kRows = 200;

  EngineSweep() {
    must_apply(PutCollection{sample_collection()});
    std::vector<HistoryEntry> rows;
    for (int seq = 1; seq <= kRows; ++seq) rows.push_back(sample_history(1, seq));
    must_apply(PutJob{waiting(sample_job(1, "old"), now_ + std::chrono::days{1}), kGenAbsent,
                      std::move(rows)});
  }

  void must_apply(const Write& write) {
    const auto results = store_.commit({write});
    ASSERT_TRUE(results && results->front() == WriteResult::applied);
  }

  void put_due(int count, Instant due) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t id = ++last_id_;
      Job job = sample_job(id, "j" + std::to_string(id));
      job.definition.edit().timing = {.start_time = due, .recurrence = {}};
      must_apply(PutJob{waiting(job, due), kGenAbsent, {}});
    }
  }

  // All that was sent has succeeded: a row of history each.
  void answer(Instant now) {
    for (const Attempt& attempt : std::exchange(target_.sent, {})) {
      engine_.report(attempt, {.succeeded = true, .message = "", .started = now, .ended = now});
    }
  }

  // How many rows went since the last time.
  std::size_t gone() {
    const auto rows = store_.history(
        {.job = JobId{1}, .status = {}, .before = {}, .skip = 0, .limit = 2 * kRows});
    return std::exchange(left_, rows->size()) - rows->size();
  }

  static EngineOptions options() {
    EngineOptions options;
    options.sweep_rows = 10;
    options.sweep_rows_max = 25;
    return options;
  }

  const Instant now_ = at(0) + std::chrono::days{100};
  std::int64_t last_id_ = 1;
  std::size_t left_ = kRows;
  MemoryStore store_;
  Target target_;
  Engine engine_{store_, target_, Random{1}, options()};
};

TEST_F(EngineSweep, RemovesAFewAtATimeAndSoonAgainWhileThereIsMore) {
  EXPECT_EQ(engine_.step(now_), now_ + Millis{50});
  EXPECT_EQ(gone(), 10u);
  engine_.step(now_ + Millis{49});
  EXPECT_EQ(gone(), 0u);
  Instant next = now_ + Millis{50};
  while (left_ > 0) {
    next = engine_.step(next);
    EXPECT_EQ(gone(), 10u);
  }
  EXPECT_EQ(engine_.step(next), next + std::chrono::seconds{1});
}

// What is written today is removed in sixty days: if less went than comes, it would grow for ever.
TEST_F(EngineSweep, RemovesMoreThanWasWrittenUpToABound) {
  put_due(5, now_);
  engine_.step(now_);
  EXPECT_EQ(gone(), 10u);
  answer(now_);
  engine_.step(now_ + Millis{50});
  EXPECT_EQ(gone(), 15u);
  engine_.step(now_ + Millis{100});
  EXPECT_EQ(gone(), 10u) << "nothing was written since";
}

// It takes a processor that others' calls want.
TEST_F(EngineSweep, RemovesRarelyWhileSomethingIsDueSoonUnlessMoreComes) {
  put_due(50, now_);
  put_due(1, now_ + Millis{900});
  engine_.step(now_);
  EXPECT_EQ(gone(), 10u);
  engine_.step(now_ + Millis{249});
  EXPECT_EQ(gone(), 0u);
  answer(now_);
  engine_.step(now_ + Millis{250});
  EXPECT_EQ(gone(), 25u) << "fifty came";
  engine_.step(now_ + Millis{300});
  EXPECT_EQ(gone(), 10u) << "and that was not enough";
  engine_.step(now_ + Millis{350});
  EXPECT_EQ(gone(), 0u);
  engine_.step(now_ + Millis{550});
  EXPECT_EQ(gone(), 10u);
}

}  // namespace
}  // namespace belfry
