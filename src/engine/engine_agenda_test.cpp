// SPDX-License-Identifier: MIT
//
// The agenda is memory, the store is the truth: whatever is missing in the one is found in the
// other.

#include <gtest/gtest.h>

#include <vector>

#include "engine/engine.h"
#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class Target final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job&, Instant) override {
    sent.push_back(attempt.job);
    return true;
  }

  std::vector<JobId> sent;
};

class EngineAgenda : public testing::Test {
 protected:
  EngineAgenda() { must_apply(PutCollection{sample_collection()}); }

  void must_apply(const Write& write) {
    const auto results = store_.commit({write});
    ASSERT_TRUE(results && results->front() == WriteResult::applied);
  }

  void put(std::int64_t id, Instant due) {
    Job job = sample_job(id, "j" + std::to_string(id));
    job.definition.edit().timing = {.start_time = due, .recurrence = {}};
    must_apply(PutJob{waiting(job, due), kGenAbsent, {}});
  }

  MemoryStore store_;
  Target target_;
  Engine engine_{store_, target_, Random{1}, {}};
};

// The store is asked for what follows the last one that was seen; were a job before it missing on
// the agenda, by a mistake of ours, nobody would ask for it before the next start.
TEST_F(EngineAgenda, IsLoadedFromTheBeginningFromTimeToTime) {
  const Instant now = at(100);
  put(1, now + std::chrono::hours{1});
  engine_.step(now);
  put(2, now);  // past the engine
  engine_.step(now + std::chrono::seconds{1});
  EXPECT_TRUE(target_.sent.empty());
  engine_.step(now + EngineOptions{}.agenda_renewed_every);
  EXPECT_EQ(target_.sent, std::vector<JobId>{JobId{2}});
}

// With the clock put back it would else take until then.
TEST_F(EngineAgenda, IsLoadedAnewWhenTheClockWasPutBack) {
  const Instant now = at(100'000);
  put(1, now + std::chrono::hours{1});
  engine_.step(now);
  put(2, at(100));
  engine_.step(at(200));
  EXPECT_EQ(target_.sent, std::vector<JobId>{JobId{2}});
}

}  // namespace
}  // namespace belfry
