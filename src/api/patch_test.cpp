// SPDX-License-Identifier: MIT
//
// A PATCH that others come before is tried again, and not for ever.

#include <gtest/gtest.h>

#include <atomic>

#include "api/api.h"
#include "store/memory_store.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
const CollectionKey kCollection{"s", "g", "c"};
const JobKey kJob{kCollection, "j"};
constexpr Seconds kPatience{20};  // a test that would hang fails instead
constexpr int kTriesUnbounded = 100;

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return true; }
};

class PatchTest : public testing::Test {
 protected:
  PatchTest() {
    const Plans plans = Plans::azure();
    JobCollection collection;
    collection.key = kCollection;
    collection.location = "here";
    collection.quota = plans.standard.given;
    submit(PutCollectionCommand{collection, {}});

    HttpAction action;
    action.method = "GET";
    action.uri = "http://target.test/";
    JobDefinition definition;
    definition.action.what = action;
    definition.timing.start_time = kNow + std::chrono::hours{1};
    submit(PutJobCommand{kJob, definition});
  }

  void submit(Command command) {
    engine_.submit(std::move(command), [](const Result<Reply>& made) { EXPECT_TRUE(made); });
    engine_.step(kNow);
  }

  // Somebody else's write, between what a PATCH read and what it writes.
  void change_job() {
    PutJob write{**store_.job(kJob), 0, {}};
    write.expected_gen = write.job.gen++;
    EXPECT_TRUE(store_.commit({write}));
  }
  void change_collection() {
    PutCollection write{**store_.collection(kCollection), 0};
    write.expected_gen = write.collection.gen++;
    EXPECT_TRUE(store_.commit({write}));
  }

  void patch(const std::string& path, const std::string& body) {
    HttpRequest request;
    request.method = "PATCH";
    request.target = path + "?api-version=2016-03-01";
    request.body = body;
    request.headers.emplace_back("Host", "localhost");
    api_.handle(request, [this](const HttpResponse& response) {
      status_ = response.status;
      engine_.inbox().wake();
    });
  }

  // Comes before the first `times` tries; how many there were until the answer.
  template <typename Change>
  int tries(int times, Change change) {
    int count = 0;
    while (status_ == 0 && count < kTriesUnbounded) {
      engine_.inbox().wait_for(kPatience);
      if (engine_.inbox().empty()) continue;
      if (count++ < times) change();
      engine_.step(kNow);
    }
    return count;
  }

  MemoryStore store_;
  IdleDispatcher dispatcher_;
  VirtualClock clock_{kNow};
  Engine engine_{store_, dispatcher_, Random{1}, {}};
  std::atomic<int> status_ = 0;
  WorkerPool workers_{1, {}};
  Api api_{store_, engine_, clock_, workers_, {}};
};

TEST_F(PatchTest, OfAJobIsTriedAsOftenAsTheLimitSays) {
  patch(job_id(kJob), R"({"properties":{"state":"Disabled"}})");
  EXPECT_EQ(tries(kPatchTriesMax, [this] { change_job(); }), kPatchTriesMax);
  EXPECT_EQ(status_, 409);
}

TEST_F(PatchTest, OfACollectionIsTriedAsOftenAsTheLimitSays) {
  patch(collection_id(kCollection), R"({"tags":{"a":"b"}})");
  EXPECT_EQ(tries(kPatchTriesMax, [this] { change_collection(); }), kPatchTriesMax);
  EXPECT_EQ(status_, 409);
}

TEST_F(PatchTest, IsDoneByTheLastTry) {
  patch(job_id(kJob), R"({"properties":{"state":"Disabled"}})");
  EXPECT_EQ(tries(kPatchTriesMax - 1, [this] { change_job(); }), kPatchTriesMax);
  EXPECT_EQ(status_, 200);
  EXPECT_EQ((*store_.job(kJob))->state, JobState::disabled);
}

}  // namespace
}  // namespace belfry
