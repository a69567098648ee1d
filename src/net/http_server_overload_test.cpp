// SPDX-License-Identifier: MIT
//
// A full server stays a server: whoever keeps it waiting gives way, and what it holds for all of
// its clients together is bounded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http_test_server.h"

namespace belfry {
namespace {

// Its clients have to ask at once, and there may be so many of them.
HttpServer::Options small(HttpServer::Handler handler, std::size_t connections_max) {
  HttpServer::Options options;
  options.handler = std::move(handler);
  options.limits.connections_max = connections_max;
  options.shares.patience_when_full = Millis{0};
  return options;
}

constexpr std::size_t kBodyBytes = 200'000;

// There is room for one body of kBodyBytes at a time, and for something small beside it.
HttpServer::Options room_for_one_body(HttpServer::Handler handler) {
  HttpServer::Options options = small(std::move(handler), 10);
  options.shares.request_bytes_max = 300'000;
  return options;
}

std::string post(std::size_t length) {
  return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

// While it lives this process cannot open any file.
class NoFilesLeft {
 public:
  NoFilesLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 512;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int file = take_one(); file >= 0; file = take_one()) taken_.push_back(file);
  }
  ~NoFilesLeft() {
    for (const int file : taken_) ::close(file);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  static int take_one() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

  rlimit before_{};
  std::vector<int> taken_;
};

// Silent clients would otherwise hold every place for as long as an idle one may stay.
TEST(HttpServerOverload, WhoKeepsAFullServerWaitingLongestGivesWay) {
  const auto server = serve(small(echo, 2));
  LoopbackClient silent(server->port());
  LoopbackClient busy(server->port());
  EXPECT_EQ(busy.ask(get("/1")).status, 200);
  LoopbackClient next(server->port());
  EXPECT_EQ(next.ask(get("/2")).status, 200);
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(busy.ask(get("/3")).status, 200) << "it had asked since, and stays";
}

// Below its limit a server may be full as well: others in the process have files too.
TEST(HttpServerOverload, WhoKeepsAServerWithoutFilesWaitingLongestGivesWay) {
  const auto server = serve(small(echo, 100));
  LoopbackClient silent(server->port());
  LoopbackClient busy(server->port());
  EXPECT_EQ(busy.ask(get("/1")).status, 200);
  auto next = LoopbackClient::unconnected();
  Answer answer;
  {
    const NoFilesLeft none;  // a sanitizer that looks into memory needs one: nothing is judged here
    next.connect(server->port());
    answer = next.ask(get("/2"));
  }
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(silent.closed());
}

TEST(HttpServerOverload, AHeadThatComesByteByByteGivesWayToo) {
  const auto server = serve(small(echo, 1));
  LoopbackClient slow(server->port());
  slow.send("GET / HTT");
  LoopbackClient next(server->port());
  EXPECT_EQ(next.ask(get("/")).status, 200);
  EXPECT_TRUE(slow.closed());
}

// A request that is being handled is nobody's fault.
TEST(HttpServerOverload, WhoWaitsForAnAnswerKeepsTheirPlaceAndTheNewcomerIsTurnedAway) {
  HeldRequests held;
  const auto server = serve(small(held.handler(), 1));
  LoopbackClient waiting(server->port());
  waiting.send(get("/"));
  auto request = held.take();
  LoopbackClient next(server->port());
  EXPECT_EQ(next.answer().status, 503);
  request.respond({200, {}, "done"});
  EXPECT_EQ(waiting.answer().body, "done");
}

TEST(HttpServerOverload, WithinTheirTimeNobodyGivesWay) {
  HttpServer::Options options = small(echo, 1);
  options.shares.patience_when_full = std::chrono::hours{1};
  const auto server = serve(options);
  LoopbackClient first(server->port());
  EXPECT_EQ(first.ask(get("/")).status, 200);
  LoopbackClient next(server->port());
  EXPECT_EQ(next.answer().status, 503);
  EXPECT_EQ(first.ask(get("/")).status, 200);
}

TEST(HttpServerOverload, RequestsBeyondWhatAllMayHoldTogetherAreAnswered503) {
  HeldRequests held;
  const auto server = serve(room_for_one_body(held.handler()));
  const std::string body(kBodyBytes, 'x');
  LoopbackClient first(server->port());
  first.send(post(body.size()) + body);
  auto request = held.take();
  LoopbackClient second(server->port());
  second.send(post(body.size()) + body);
  EXPECT_EQ(second.answer().status, 503);
  LoopbackClient small_one(server->port());
  small_one.send(get("/"));
  held.take().respond({200, {}, "small"});
  EXPECT_EQ(small_one.answer().body, "small");
  request.respond({200, {}, "done"});
  EXPECT_EQ(first.answer().body, "done");
  // What was answered is held no longer.
  LoopbackClient third(server->port());
  third.send(post(body.size()) + body);
  held.take().respond({200, {}, "third"});
  EXPECT_EQ(third.answer().body, "third");
}

TEST(HttpServerOverload, BodiesThatNeverEndGiveWayToThoseThatDo) {
  const auto server = serve(room_for_one_body(echo));
  const std::string body(kBodyBytes, 'x');
  LoopbackClient stuck(server->port());
  stuck.send(post(body.size()) + body.substr(1));
  LoopbackClient whole(server->port());
  EXPECT_EQ(whole.ask(post(body.size()) + body).status, 200);
  // Closed, or told so where the server was still reading it.
  const int status = stuck.answer().status;
  EXPECT_TRUE(status == 0 || status == 503) << status;
}

// Otherwise two that come at the same time could close each other, and none would ever end.
TEST(HttpServerOverload, ABodyDoesNotTakeTheRoomOfAYoungerOne) {
  const auto server = serve(room_for_one_body(echo));
  const std::string body(kBodyBytes, 'x');
  LoopbackClient older(server->port());
  older.send(post(body.size()));
  LoopbackClient younger(server->port());
  younger.send(post(body.size()) + body.substr(1));
  LoopbackClient other(server->port());
  // The connections are read in turns, a piece of this body for each of these: now all of it.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.ask(get("/")).status, 200);
  older.send(body);
  EXPECT_EQ(older.answer().status, 503);
  younger.send("x");
  EXPECT_EQ(younger.answer().status, 200);
}

TEST(HttpServerOverload, LargeAnswersBeyondWhatAllMayHoldTogetherAre503) {
  HttpServer::Options options;
  options.shares.answer_bytes_max = 50'000'000;
  options.handler = [](const HttpRequest& request, const HttpServer::Respond& respond) {
    respond({200, {}, std::string(request.target == "/large" ? 40'000'000 : 100, 'x')});
  };
  const auto server = serve(options);
  LoopbackClient unread(server->port());
  unread.send(get("/large"));  // more than the kernel takes: it stays in the server
  ASSERT_TRUE(unread.readable(LoopbackClient::kPatience));
  LoopbackClient second(server->port());
  EXPECT_EQ(second.ask(get("/large")).status, 503);
  LoopbackClient third(server->port());
  EXPECT_EQ(third.ask(get("/")).status, 200);
  EXPECT_EQ(unread.answer().body.size(), 40'000'000u);
  LoopbackClient fourth(server->port());
  EXPECT_EQ(fourth.ask(get("/large")).status, 200);
}

// Whoever was told to come back later and asks on costs the server nothing meanwhile.
TEST(HttpServerOverload, AfterA429TheNextRequestIsReadLater) {
  HeldRequests held;
  HttpServer::Options options = small(held.handler(), 10);
  options.shares.throttled_pause = Millis{200};
  const auto server = serve(options);
  LoopbackClient client(server->port());
  client.send(get("/1") + get("/2"));
  held.take().respond({429, {}, "later"});
  EXPECT_EQ(client.answer().status, 429);
  LoopbackClient other(server->port());
  other.send(get("/other"));
  auto request = held.take();
  EXPECT_EQ(request.request.target, "/other");
  request.respond({});
  request = held.take();
  EXPECT_EQ(request.request.target, "/2");
  request.respond({});
  EXPECT_EQ(client.answer().status, 200);
}

// Answers 429 to every PUT, by its head.
HttpServer::Options without_puts(Millis pause) {
  HttpServer::Options options;
  options.handler = echo;
  options.shares.throttled_pause = pause;
  options.at_head = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.method != "PUT") return {};
    return HttpResponse{429, {}, head.remote_address + head.body};
  };
  return options;
}

std::string put(std::size_t length, std::string_view headers = "") {
  return "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n" +
         std::string(headers) + "\r\n";
}

// It costs neither the memory for its body nor the time to read it.
TEST(HttpServerOverload, ARequestIsTurnedAwayByItsHeadAlone) {
  const auto server = serve(without_puts(Millis{0}));
  LoopbackClient client(server->port());
  client.send(put(200'000));
  const auto answer = client.answer();
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.body, "127.0.0.1");
  client.send(std::string(200'000, 'x') + get("/next"));
  EXPECT_EQ(client.answer().body, "GET /next ") << "the body is read past";
}

TEST(HttpServerOverload, WhereABodyThatIsNotWantedEndsMustBeKnown) {
  const auto server = serve(without_puts(Millis{0}));
  LoopbackClient chunked(server->port());
  chunked.send("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(chunked.answer().status, 429);
  EXPECT_TRUE(chunked.closed());
  LoopbackClient asking(server->port());
  asking.send(put(5, "Expect: 100-continue\r\n"));
  EXPECT_EQ(asking.answer().status, 429) << "and not 100";
  EXPECT_TRUE(asking.closed());
}

TEST(HttpServerOverload, ABodyThatIsNotWantedAndDoesNotComeIsNotAwaitedForEver) {
  HttpServer::Options options = without_puts(Millis{0});
  options.limits.body_timeout = Millis{20};
  const auto server = serve(options);
  LoopbackClient client(server->port());
  client.send(put(10));
  EXPECT_EQ(client.answer().status, 429);
  EXPECT_TRUE(client.closed()) << "without a second answer";
}

TEST(HttpServerOverload, APauseDoesNotHoldUpTheEnd) {
  HttpServer::Options options;
  options.shares.throttled_pause = std::chrono::hours{1};
  options.handler = [](const HttpRequest&, const HttpServer::Respond& respond) {
    respond({429, {}, "later"});
  };
  const auto server = serve(options);
  LoopbackClient client(server->port());
  EXPECT_EQ(client.ask(get("/")).status, 429);
  server->drain(LoopbackClient::kPatience);
  EXPECT_EQ(server->open_connections(), 0u);
}

}  // namespace
}  // namespace belfry
