// SPDX-License-Identifier: MIT
//
// What a rude, slow or broken client sees; and that the handler never sees such a client.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "net/http_malformed_requests.h"
#include "net/http_test_server.h"

namespace belfry {
namespace {

class Refused : public testing::TestWithParam<MalformedRequest> {};

TEST_P(Refused, WithoutCallingTheHandler) {
  std::atomic<int> calls = 0;
  const auto server = serve([&](HttpRequest, const HttpServer::Respond& respond) {
    ++calls;
    respond({});
  });
  LoopbackClient client(server->port());
  client.send(GetParam().bytes);
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, GetParam().status) << answer.body;
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(calls, 0);
}

INSTANTIATE_TEST_SUITE_P(HttpServer, Refused, testing::ValuesIn(kMalformedRequests),
                         [](const auto& test) { return std::string(test.param.name); });

int status_of(const HttpServerLimits& limits, const std::string& request) {
  std::atomic<int> calls = 0;
  const auto server = serve(
      [&](HttpRequest, const HttpServer::Respond& respond) {
        ++calls;
        respond({});
      },
      limits);
  LoopbackClient client(server->port());
  client.send(request);
  const int status = client.answer().status;
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(calls, 0);
  return status;
}

TEST(HttpServerLimits, EachHasItsStatus) {
  EXPECT_EQ(status_of({}, "GET /" + std::string(9'000, 'x')), 414);
  EXPECT_EQ(status_of({}, "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(17'000, 'x')), 431);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) many += "X: y\r\n";
  EXPECT_EQ(status_of({}, many + "\r\n"), 431);
  EXPECT_EQ(status_of({}, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 262145\r\n\r\n"), 413);
  EXPECT_EQ(
      status_of({}, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n40001\r\n"),
      413);
}

// A client that sends all before it reads must still get the answer, not a reset.
TEST(HttpServerLimits, ABodyTooLargeIsAnsweredThoughTheClientSendsOn) {
  const std::string body(2 * 1024 * 1024, 'x');
  EXPECT_EQ(status_of({}, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2097152\r\n\r\n" + body),
            413);
}

TEST(HttpServerLimits, ASlowHeadIsAnswered408) {
  HttpServerLimits limits;
  limits.head_timeout = Millis(50);
  EXPECT_EQ(status_of(limits, "GET / HTTP/1.1\r\nHost:"), 408);
}

// Slowloris: a byte now and then must not move the deadline.
TEST(HttpServerLimits, ATricklingHeadIsAnswered408) {
  HttpServerLimits limits;
  limits.head_timeout = Millis(200);
  const auto server = serve(echo, limits);
  LoopbackClient client(server->port());
  client.send("GET /");
  for (int i = 0; i < 1000 && !client.readable(Millis(20)); ++i) client.send("x");
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.body, "The head of the request did not arrive within 0.2 seconds.\n");
}

TEST(HttpServerLimits, ASlowBodyIsAnswered408) {
  HttpServerLimits limits;
  limits.body_timeout = Millis(50);
  EXPECT_EQ(status_of(limits, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell"), 408);
}

TEST(HttpServerLimits, AnIdleConnectionIsClosedWithoutAWord) {
  HttpServerLimits limits;
  limits.idle_timeout = Millis(50);
  const auto server = serve(echo, limits);
  LoopbackClient silent(server->port());
  EXPECT_TRUE(silent.closed());
  LoopbackClient kept(server->port());
  EXPECT_EQ(kept.ask(get("/")).status, 200);
  EXPECT_TRUE(kept.closed());
}

// The handler may take as long as it likes: the time-outs are the client's.
TEST(HttpServerLimits, DoNotHurryTheHandler) {
  HttpServerLimits limits;
  limits.head_timeout = limits.body_timeout = limits.idle_timeout = Millis(20);
  HeldRequests held;
  const auto server = serve(held.handler(), limits);
  LoopbackClient client(server->port());
  client.send(get("/"));
  auto request = held.take();
  EXPECT_FALSE(client.readable(Millis(200)));
  request.respond({200, {}, "at last"});
  EXPECT_EQ(client.answer().body, "at last");
}

TEST(HttpServerLimits, AClientThatDoesNotTakeItsAnswerIsCutOff) {
  HttpServerLimits limits;
  limits.write_timeout = Millis(100);
  const std::string body(32 * 1024 * 1024, 'x');
  const auto server = serve(
      [&](HttpRequest, const HttpServer::Respond& respond) {
        respond({200, {}, body});
      },
      limits);
  LoopbackClient client(server->port());
  client.send(get("/"));
  EXPECT_TRUE(client.readable(LoopbackClient::kPatience));
  server->drain(LoopbackClient::kPatience);
  EXPECT_EQ(server->open_connections(), 0u);
  EXPECT_LT(client.answer().body.size(), body.size());
}

TEST(HttpServerLimits, AConnectionTooManyIsAnswered503) {
  HttpServerLimits limits;
  limits.connections_max = 2;
  const auto server = serve(echo, limits);
  LoopbackClient first(server->port());
  LoopbackClient second(server->port());
  EXPECT_EQ(first.ask(get("/")).status, 200);
  EXPECT_EQ(second.ask(get("/")).status, 200);
  LoopbackClient third(server->port());
  const Answer answer = third.ask(get("/"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "The server has the 2 connections that it may have. Try again later.\n");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(third.closed());
  EXPECT_EQ(first.ask(get("/")).status, 200);
}

// Those that do not even go away when told so are soon not told any more.
TEST(HttpServerLimits, TurnedAwayConnectionsAreLimitedToo) {
  HttpServerLimits limits;
  limits.connections_max = 1;
  limits.linger_timeout = LoopbackClient::kPatience;
  const auto server = serve(echo, limits);
  std::vector<LoopbackClient> clients;
  for (int i = 0; i < 100; ++i) clients.emplace_back(server->port());
  EXPECT_TRUE(clients.back().closed());
  EXPECT_EQ(server->open_connections(), 65u);
}

TEST(HttpServerLimits, AClientThatNeverClosesIsLeftAfterAWhile) {
  HttpServerLimits limits;
  limits.linger_timeout = Millis(50);
  const auto server = serve(echo, limits);
  LoopbackClient client(server->port());
  EXPECT_EQ(client.ask("BAD\r\n\r\n").status, 400);
  server->drain(LoopbackClient::kPatience);
  EXPECT_EQ(server->open_connections(), 0u);
}

TEST(HttpServerRefusal, IsWordedByItsOwner) {
  HttpServer::Options options;
  options.handler = echo;
  options.refusal = [](int status, const std::string& what) {
    return HttpResponse{
        status, {{"Content-Type", "application/json"}}, "{\"error\":\"" + what + "\"}"};
  };
  const auto server = serve(std::move(options));
  LoopbackClient client(server->port());
  const Answer answer = client.ask("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.has("Content-Type: application/json"));
  EXPECT_EQ(answer.body, "{\"error\":\"There is no Host header.\"}");
}

TEST(HttpServerRefusal, HasABodyThoughTheRequestBeforeWasHead) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n");
  EXPECT_EQ(client.answer(/*for_head=*/true).status, 200);
  EXPECT_EQ(client.answer().body, "The request target holds what a URL may not.\n");
}

TEST(HttpServerRefusal, ComesInPlaceOfAnAnswerThatWouldSplitAHeader) {
  const auto server = serve([](HttpRequest, const HttpServer::Respond& respond) {
    respond({200, {{"Location", "/x\r\nSet-Cookie: stolen"}}, ""});
  });
  LoopbackClient client(server->port());
  const Answer answer = client.ask(get("/"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_FALSE(answer.has("stolen"));
}

// Takes all file descriptors that are left, until it goes.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = dup(0);
    taken_.push_back(lowest_free);
    const rlimit few{static_cast<rlim_t>(lowest_free) + 8, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int next = dup(0); next >= 0; next = dup(0)) taken_.push_back(next);
  }
  ~NoDescriptorsLeft() {
    for (const int descriptor : taken_) ::close(descriptor);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

// What is written to standard error, line by line, as long as this lives.
class LogLines {
 public:
  LogLines() {
    EXPECT_EQ(pipe(pipe_.data()), 0);
    dup2(pipe_[1], STDERR_FILENO);
  }
  ~LogLines() {
    dup2(before_, STDERR_FILENO);
    for (const int descriptor : {before_, pipe_[0], pipe_[1]}) ::close(descriptor);
  }

  // How many lines came up to the first that holds `last`, with it, and hold `what`.
  int count(std::string_view what, std::string_view last) {
    int count = 0;
    for (std::string line = next(); !line.empty(); line = next()) {
      if (line.find(what) != std::string::npos) ++count;
      if (line.find(last) != std::string::npos) return count;
    }
    ADD_FAILURE() << "no line holds " << last;
    return count;
  }

 private:
  // Empty: none came.
  std::string next() {
    std::string line;
    pollfd readable{pipe_[0], POLLIN, 0};
    for (char letter = 0; letter != '\n'; line += letter) {
      if (poll(&readable, 1, static_cast<int>(LoopbackClient::kPatience.count())) != 1) return {};
      if (read(pipe_[0], &letter, 1) != 1) return {};
    }
    return line;
  }

  const int before_ = dup(STDERR_FILENO);
  std::array<int, 2> pipe_{};
};

std::chrono::microseconds processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Out of descriptors, the server neither stops accepting for good nor spins.
TEST(HttpServerRefusal, OfTheKernelToAcceptIsWaitedOut) {
  const auto server = serve(echo);
  LoopbackClient before(server->port());
  EXPECT_EQ(before.ask(get("/")).status, 200);
  LoopbackClient client = LoopbackClient::unconnected();
  // UBSan opens a file when it first meets a type, and soon there is no descriptor for that.
  log(LogLevel::error, "descriptors are taken away on purpose", {{"reason", "a test"}});
  {
    const NoDescriptorsLeft none;
    const auto began = processor_time();
    ASSERT_TRUE(client.connect(server->port()));
    client.send(get("/"));
    EXPECT_FALSE(client.readable(Millis(300)));
    EXPECT_LT(processor_time() - began, Millis(150));
    EXPECT_EQ(before.ask(get("/")).status, 200);
  }
  EXPECT_EQ(client.answer().status, 200);
}

// At the limit each that is accepted finds the place of one that was closed for it.
TEST(HttpServerRefusal, OfTheKernelToAcceptIsSaidOnceHoweverManyGiveWay) {
  HttpServer::Options options;
  options.handler = echo;
  options.shares.patience_when_full = Millis{0};
  const auto server = serve(std::move(options));
  LogLines lines;
  std::vector<LoopbackClient> idle;
  for (int i = 0; i < 6; ++i) {
    idle.emplace_back(server->port());
    EXPECT_EQ(idle.back().ask(get("/")).status, 200);
  }
  std::vector<LoopbackClient> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(LoopbackClient::unconnected());
  log(LogLevel::error, "descriptors are taken away on purpose", {{"reason", "a test"}});
  {
    const NoDescriptorsLeft none;
    for (LoopbackClient& client : clients) {
      ASSERT_TRUE(client.connect(server->port()));
      EXPECT_EQ(client.ask(get("/")).status, 200);
    }
  }
  log(LogLevel::error, "descriptors are given back");
  EXPECT_EQ(lines.count("connections ", "descriptors are given back"), 1);
}

TEST(HttpServerRefusal, OfTheKernelToAcceptIsOverWhenNoneCameForAWhile) {
  HttpServer::Options options;
  options.handler = echo;
  options.refusals_over_after = Millis{1};
  const auto server = serve(std::move(options));
  LogLines lines;
  LoopbackClient before(server->port());
  EXPECT_EQ(before.ask(get("/")).status, 200);
  LoopbackClient client = LoopbackClient::unconnected();
  log(LogLevel::error, "descriptors are taken away on purpose", {{"reason", "a test"}});
  {
    const NoDescriptorsLeft none;
    ASSERT_TRUE(client.connect(server->port()));
    EXPECT_EQ(lines.count("", "connections cannot be accepted"), 2);
  }
  EXPECT_GE(lines.count("", "connections are accepted again"), 1);
  EXPECT_EQ(client.ask(get("/")).status, 200);
}

}  // namespace
}  // namespace belfry
