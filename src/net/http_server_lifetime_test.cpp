// SPDX-License-Identifier: MIT
//
// Who may outlive whom: answers from other threads, clients that left, draining, the end.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/http_test_server.h"

namespace belfry {
namespace {

// Threads that answer what the handler gives them, as the engine's thread does.
class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  HttpServer::Handler handler() {
    return [this](HttpRequest request, HttpServer::Respond respond) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(request), std::move(respond)});
      changed_.notify_one();
    };
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      HeldRequests::Held next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      echo(std::move(next.request), next.respond);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HeldRequests::Held> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

HttpServer::Options with_threads(int threads, HttpServer::Handler handler) {
  HttpServer::Options options;
  options.threads = threads;
  options.handler = std::move(handler);
  return options;
}

TEST(HttpServerAnswer, MayComeFromAnyThread) {
  Workers workers(3);
  const auto server = serve(with_threads(2, workers.handler()));
  std::vector<LoopbackClient> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(server->port());
  for (int round = 0; round < 20; ++round) {
    const std::string target = "/" + std::to_string(round);
    for (LoopbackClient& client : clients) client.send(get(target) + get(target + "/second"));
    for (LoopbackClient& client : clients) {
      ASSERT_EQ(client.answer().body, "GET " + target + " ");
      ASSERT_EQ(client.answer().body, "GET " + target + "/second ");
    }
  }
}

TEST(HttpServerAnswer, ToAClientThatLeftIsHarmless) {
  HeldRequests held;
  const auto server = serve(held.handler());
  LoopbackClient closing(server->port());
  closing.send(get("/"));
  auto to_closing = held.take();
  closing.close();
  LoopbackClient resetting(server->port());
  resetting.send(get("/"));
  auto to_resetting = held.take();
  resetting.reset();
  to_closing.respond({200, {}, std::string(1'000'000, 'x')});
  to_resetting.respond({200, {}, std::string(1'000'000, 'x')});
  LoopbackClient next(server->port());
  next.send(get("/"));
  held.take().respond({200, {}, "alive"});
  EXPECT_EQ(next.answer().body, "alive");
}

// Nobody else would ever free the connection of a request that was lost.
TEST(HttpServerAnswer, IsGivenFor500ToARequestTheHandlerDropped) {
  const auto server = serve([](const HttpRequest&, const HttpServer::Respond&) {});
  LoopbackClient client(server->port());
  EXPECT_EQ(client.ask(get("/")).status, 500);
  EXPECT_TRUE(client.closed());
}

TEST(HttpServerAnswer, DroppedOnAnotherThreadIs500Too) {
  HeldRequests held;
  const auto server = serve(held.handler());
  LoopbackClient client(server->port());
  client.send(get("/"));
  held.take();
  EXPECT_EQ(client.answer().status, 500);
}

TEST(HttpServerAnswerDeathTest, GivenTwiceIsOurOwnMistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto answer_twice = [] {
    HeldRequests held;
    const auto server = serve(held.handler());
    LoopbackClient client(server->port());
    client.send(get("/"));
    const auto request = held.take();
    request.respond({200, {}, "once"});
    request.respond({200, {}, "twice"});
  };
  EXPECT_DEATH(answer_twice(), "answered_before");
}

TEST(HttpServerEnd, ClosesEverythingAtOnce) {
  HeldRequests held;
  auto server = serve(held.handler());
  LoopbackClient idle(server->port());
  LoopbackClient halfway(server->port());
  halfway.send("GET / HT");
  LoopbackClient waiting(server->port());
  waiting.send(get("/"));
  const auto request = held.take();
  server.reset();
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(halfway.closed());
  EXPECT_TRUE(waiting.closed());
}

TEST(HttpServerEnd, LeavesAnswersThatComeLaterHarmless) {
  HeldRequests held;
  auto server = serve(held.handler());
  LoopbackClient client(server->port());
  client.send(get("/"));
  auto answered = held.take();
  LoopbackClient other(server->port());
  other.send(get("/"));
  auto dropped = held.take();
  server.reset();
  answered.respond({200, {}, "too late"});
  dropped = {};
  EXPECT_TRUE(client.closed());
}

// What the handler captured may be torn down as soon as the server is gone.
TEST(HttpServerEnd, DestroysTheHandlerThoughAnswersAreOutstanding) {
  HeldRequests held;
  auto captured = std::make_shared<int>(1);
  auto server =
      serve([captured, hold = held.handler()](HttpRequest request, HttpServer::Respond respond) {
        hold(std::move(request), std::move(respond));
      });
  LoopbackClient client(server->port());
  client.send(get("/"));
  const auto request = held.take();
  EXPECT_GT(captured.use_count(), 1);
  server.reset();
  EXPECT_EQ(captured.use_count(), 1);
}

// For the sanitizers: answers, clients and the end of the server meet at random.
TEST(HttpServerEnd, MayComeWhileOthersAnswer) {
  Workers workers(2);
  for (int round = 0; round < 30; ++round) {
    auto server = serve(with_threads(2, workers.handler()));
    std::vector<LoopbackClient> clients;
    for (int i = 0; i < 8; ++i) clients.emplace_back(server->port());
    for (LoopbackClient& client : clients) client.send(get("/1") + get("/2") + get("/3"));
    clients.front().answer();
    clients.back().reset();
    server.reset();
  }
}

TEST(HttpServerDrain, ClosesIdleConnections) {
  const auto server = serve(with_threads(2, echo));
  LoopbackClient fresh(server->port());
  LoopbackClient kept(server->port());
  EXPECT_EQ(kept.ask(get("/")).status, 200);
  server->drain(LoopbackClient::kPatience);
  EXPECT_EQ(server->open_connections(), 0u);
  EXPECT_TRUE(fresh.closed());
  EXPECT_TRUE(kept.closed());
  EXPECT_FALSE(LoopbackClient(server->port()).connected());
}

// A loop takes connections and their bytes in the order in which they came.
void wait_until_served(const HttpServer& server, HeldRequests& held) {
  LoopbackClient last(server.port());
  last.send(get("/last"));
  held.take().respond({});
  last.answer();
}

void wait_until_accepting_has_stopped(const HttpServer& server) {
  while (LoopbackClient(server.port()).connected()) {
  }
}

TEST(HttpServerDrain, LetsRequestsInProgressFinish) {
  HeldRequests held;
  const auto server = serve(held.handler());
  LoopbackClient handled(server->port());
  handled.send(get("/handled"));
  auto request = held.take();
  LoopbackClient halfway(server->port());
  halfway.send("GET /halfway HTTP/1.1\r\n");
  wait_until_served(*server, held);

  std::thread draining([&] { server->drain(LoopbackClient::kPatience); });
  wait_until_accepting_has_stopped(*server);
  request.respond({200, {}, "finished"});
  const Answer answer = handled.answer();
  EXPECT_EQ(answer.body, "finished");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(handled.closed());
  handled.close();

  halfway.send("Host: a\r\n\r\n");
  held.take().respond({200, {}, "finished too"});
  EXPECT_EQ(halfway.answer().body, "finished too");
  halfway.close();
  draining.join();
  EXPECT_EQ(server->open_connections(), 0u);
}

TEST(HttpServerDrain, ReturnsWhenTheGraceIsOver) {
  HeldRequests held;
  auto server = serve(held.handler());
  LoopbackClient client(server->port());
  client.send(get("/"));
  auto request = held.take();
  server->drain(Millis(20));
  EXPECT_EQ(server->open_connections(), 1u);
  request.respond({200, {}, "after the grace"});
  EXPECT_EQ(client.answer().body, "after the grace");
}

TEST(HttpServerDrain, ServesARequestThatHadComeBefore) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  EXPECT_EQ(client.ask(get("/")).status, 200);
  client.send(get("/just-before"));
  server->drain(Millis(1));
  const Answer answer = client.answer();
  EXPECT_EQ(answer.body, "GET /just-before ");
}

}  // namespace
}  // namespace belfry
