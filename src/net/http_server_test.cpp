// SPDX-License-Identifier: MIT
//
// What a well-behaved client sees.
#include "net/http_server.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/http_test_server.h"

namespace belfry {
namespace {

TEST(HttpServer, HandsOverTheRequestAsItCame) {
  HttpRequest seen;
  const auto server = serve([&](HttpRequest request, const HttpServer::Respond& respond) {
    seen = std::move(request);
    respond({201, {{"X-Made", "yes"}}, "done"});
  });
  LoopbackClient client(server->port());
  const Answer answer =
      client.ask("PUT /a%20b?c=d HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "done");
  EXPECT_TRUE(answer.has("\r\nX-Made: yes\r\n"));
  EXPECT_TRUE(answer.has("\r\nContent-Length: 4\r\n"));
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.target, "/a%20b?c=d");
  EXPECT_EQ(header_of(seen.headers, "x"), "y");
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(seen.remote_address, "127.0.0.1");
}

TEST(HttpServer, KeepsTheConnection) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  for (int i = 0; i < 100; ++i) {
    const Answer answer = client.ask(get("/" + std::to_string(i)));
    ASSERT_EQ(answer.body, "GET /" + std::to_string(i) + " ");
    ASSERT_FALSE(answer.has("Connection:"));
  }
  EXPECT_EQ(server->open_connections(), 1u);
}

TEST(HttpServer, ClosesTheConnectionWhenAskedTo) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  const Answer answer = client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client.closed());
}

TEST(HttpServer, SpeaksHttp10) {
  const auto server = serve(echo);
  LoopbackClient once(server->port());
  EXPECT_TRUE(once.ask("GET / HTTP/1.0\r\n\r\n").has("Connection: close"));
  EXPECT_TRUE(once.closed());
  LoopbackClient kept(server->port());
  const std::string request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_TRUE(kept.ask(request).has("Connection: keep-alive"));
  EXPECT_EQ(kept.ask(request).status, 200);
}

TEST(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += get("/" + std::to_string(i));
  client.send(requests);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client.answer().body, "GET /" + std::to_string(i) + " ");
  }
}

// A client cannot make the server work on more than one of its requests per connection.
TEST(HttpServer, HandlesOnePipelinedRequestAtATime) {
  HeldRequests held;
  const auto server = serve(held.handler());
  LoopbackClient client(server->port());
  client.send(get("/1") + get("/2"));
  auto first = held.take();
  EXPECT_EQ(first.request.target, "/1");
  // On the loop's thread behind whatever the first read led to.
  LoopbackClient other(server->port());
  other.send(get("/other"));
  EXPECT_EQ(held.take().request.target, "/other");
  EXPECT_TRUE(held.empty());
  first.respond({200, {}, "one"});
  EXPECT_EQ(client.answer().body, "one");
  held.take().respond({200, {}, "two"});
  EXPECT_EQ(client.answer().body, "two");
}

TEST(HttpServer, TakesARequestThatComesByteByByte) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  const std::string request =
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (const char& byte : request) client.send({&byte, 1});
  EXPECT_EQ(client.answer().body, "POST /x abcde");
}

TEST(HttpServer, TakesALargeBodyAndGoesOn) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  const std::string body(HttpServerLimits{}.body_bytes_max, 'b');
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body + get("/next"));
  EXPECT_EQ(client.answer().body, "POST / " + body);
  EXPECT_EQ(client.answer().body, "GET /next ");
}

TEST(HttpServer, SaysContinueToAClientThatWaits) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  const Answer leave =
      client.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(leave.head, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("body").body, "POST / body");
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const auto server = serve(echo);
  LoopbackClient client(server->port());
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next"));
  EXPECT_TRUE(client.answer(/*for_head=*/true).has("Content-Length: 7\r\n"));
  EXPECT_EQ(client.answer().body, "GET /next ");
}

TEST(HttpServer, SendsNoBodyWith204) {
  const auto server = serve([](HttpRequest request, const HttpServer::Respond& respond) {
    if (request.target == "/") return respond({204, {}, "nobody may see this"});
    respond({200, {}, "next"});
  });
  LoopbackClient client(server->port());
  client.send(get("/") + get("/next"));
  EXPECT_EQ(client.answer().head, "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(client.answer().body, "next");
}

// HTTP allows a client to close its side once it has asked.
TEST(HttpServer, AnswersAClientThatHasFinishedSending) {
  HeldRequests held;
  const auto server = serve(held.handler());
  LoopbackClient client(server->port());
  client.send(get("/"));
  client.finish_sending();
  held.take().respond({200, {}, "late"});
  EXPECT_EQ(client.answer().body, "late");
  EXPECT_TRUE(client.closed());
}

TEST(HttpServer, SendsLargeAnswersWhole) {
  const std::string body(8 * 1024 * 1024, 'x');
  const auto server = serve([&](HttpRequest, const HttpServer::Respond& respond) {
    respond({200, {}, body});
  });
  LoopbackClient client(server->port());
  EXPECT_EQ(client.ask(get("/")).body, body);
  EXPECT_EQ(client.ask(get("/")).body, body);
}

TEST(HttpServer, SpreadsConnectionsOverItsThreads) {
  HttpServer::Options options;
  options.threads = 3;
  options.handler = echo;
  const auto server = serve(std::move(options));
  std::vector<LoopbackClient> clients;
  for (int i = 0; i < 30; ++i) clients.emplace_back(server->port());
  for (int round = 0; round < 10; ++round) {
    for (LoopbackClient& client : clients) client.send(get("/x"));
    for (LoopbackClient& client : clients) ASSERT_EQ(client.answer().body, "GET /x ");
  }
  EXPECT_EQ(server->open_connections(), 30u);
}

TEST(HttpServer, ListensOnIpv6) {
  HttpServer::Options options;
  options.host = "::1";
  options.handler = [](HttpRequest request, const HttpServer::Respond& respond) {
    respond({200, {}, request.remote_address});
  };
  auto server = HttpServer::start(std::move(options));
  if (!server) GTEST_SKIP() << "this machine has no IPv6: " << server.error().message;
  LoopbackClient client = LoopbackClient::over_ipv6((*server)->port());
  EXPECT_EQ(client.ask(get("/")).body, "::1");
}

// Allow-lists are written with plain addresses.
TEST(HttpServer, KnowsAnIpv4ClientOfAnIpv6SocketByItsIpv4Address) {
  HttpServer::Options options;
  options.host = "::";
  options.handler = [](HttpRequest request, const HttpServer::Respond& respond) {
    respond({200, {}, request.remote_address});
  };
  auto server = HttpServer::start(std::move(options));
  if (!server) GTEST_SKIP() << "this machine has no IPv6: " << server.error().message;
  LoopbackClient client((*server)->port());
  if (!client.connected()) GTEST_SKIP() << "IPv6 sockets take no IPv4 here";
  EXPECT_EQ(client.ask(get("/")).body, "127.0.0.1");
}

TEST(HttpServer, SaysWhyItCannotStart) {
  const auto server = serve(echo);
  HttpServer::Options taken;
  taken.port = server->port();
  taken.handler = echo;
  const auto second = HttpServer::start(taken);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "cannot listen on 127.0.0.1 port " +
                                        std::to_string(server->port()) +
                                        ": Address already in use.");
  HttpServer::Options nowhere;
  nowhere.host = "example.org";
  nowhere.handler = echo;
  const auto third = HttpServer::start(nowhere);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belfry
