// SPDX-License-Identifier: MIT
//
// /readyz says why the server is not ready.

#include <gtest/gtest.h>

#include "api/api.h"
#include "store/memory_store.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

class DoubtfulClock final : public Clock {
 public:
  Instant now() const override { return kNow; }
  bool trusted() const override { return believed; }

  bool believed = true;
};

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return false; }
};

class ReadyTest : public testing::Test {
 protected:
  // Status and body; it is answered at once, on this thread.
  std::string ready() {
    HttpRequest request;
    request.method = "GET";
    request.target = "/readyz";
    std::string answer;
    api_.handle(request, [&](const HttpResponse& response) {
      answer = std::to_string(response.status) + " " + response.body;
    });
    return answer;
  }

  ApiOptions options() {
    ApiOptions options;
    options.engine_trouble = [this] { return engine_trouble_; };
    return options;
  }

  static std::string refusal(const std::string& reasons) {
    return R"(503 {"status":"not ready","reasons":[)" + reasons + "]}";
  }

  MemoryStore store_;
  IdleDispatcher dispatcher_;
  DoubtfulClock clock_;
  Engine engine_{store_, dispatcher_, Random{1}, {}};
  WorkerPool workers_{1, {}};
  std::string engine_trouble_;
  Api api_{store_, engine_, clock_, workers_, options()};
};

const std::string kClock =
    R"("the clock has just jumped; nothing is started until it has stood for a while")";
const std::string kStopping = R"("the server is stopping: it finishes what is under way")";

TEST_F(ReadyTest, NotBeforeTheStoreWasRead) {
  EXPECT_EQ(ready(), refusal(R"("the store cannot be used: it has not been read yet")"));
  engine_.step(kNow);
  EXPECT_EQ(ready(), R"(200 {"status":"ok"})");
}

TEST_F(ReadyTest, NotWhileTheClockIsDoubted) {
  engine_.step(kNow);
  clock_.believed = false;
  EXPECT_EQ(ready(), refusal(kClock));
  clock_.believed = true;
  EXPECT_EQ(ready(), R"(200 {"status":"ok"})");
}

// A server that was left held by mistake must not look as if it did its work.
TEST_F(ReadyTest, NotWhileTheServerIsHeld) {
  engine_.step(kNow);
  ApiOptions held;
  held.held = true;
  const Api api{store_, engine_, clock_, workers_, held};
  EXPECT_FALSE(api.is_ready());
  EXPECT_TRUE(api_.is_ready());
}

TEST_F(ReadyTest, NotWhileTheEngineStandsStill) {
  engine_.step(kNow);
  engine_trouble_ = "the engine has not taken a step for 7 s";
  EXPECT_EQ(ready(), refusal(R"("the engine has not taken a step for 7 s")"));
  engine_trouble_.clear();
  EXPECT_EQ(ready(), R"(200 {"status":"ok"})");
}

TEST_F(ReadyTest, NotWhenTheServerIsStopping) {
  engine_.step(kNow);
  api_.stop_being_ready();
  EXPECT_EQ(ready(), refusal(kStopping));
  clock_.believed = false;
  EXPECT_EQ(ready(), refusal(kStopping + "," + kClock)) << "every reason is told";
}

}  // namespace
}  // namespace belfry
