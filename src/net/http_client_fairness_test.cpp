// SPDX-License-Identifier: MIT
//
// Owners of calls share the client: none delays or shuts out another.

#include <gtest/gtest.h>

#include <latch>
#include <span>

#include "net/http_client.h"
#include "net/http_client_admission.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"
#include "net/http_client_waiting.h"

namespace belfry {
namespace {

HttpCall call_of(const std::string& owner, std::uint16_t port) {
  HttpCall call = call_to(port);
  call.owner = owner;
  call.target = "/" + owner;
  return call;
}

void hang(Conversation& conversation) {
  conversation.hang();
}

void answer_all(Conversation& conversation) {
  while (!conversation.request().empty()) conversation.answer();
}

HttpExchangePtr waiting(const std::string& owner, SteadyTime deadline = SteadyTime::max()) {
  auto exchange = std::make_unique<HttpExchange>();
  exchange->owner = owner;
  exchange->deadline = deadline;
  return exchange;
}

std::string order_of(HttpWaitingCalls& calls) {
  std::string order;
  while (!calls.empty()) order += calls.pop()->owner;
  return order;
}

TEST(HttpWaitingCalls, LetsOwnersTakeTurns) {
  HttpWaitingCalls calls;
  for (const char* owner : {"a", "a", "a", "b", "b", "c"}) calls.push(waiting(owner));
  EXPECT_EQ(order_of(calls), "abcaba");
}

TEST(HttpWaitingCalls, ServesANewcomerBeforeTheOwnerWhoHadTheLastTurn) {
  HttpWaitingCalls calls;
  for (int i = 0; i < 3; ++i) calls.push(waiting("a"));
  EXPECT_EQ(calls.pop()->owner, "a");
  calls.push(waiting("b"));
  EXPECT_EQ(order_of(calls), "baa");
}

// Two who always have just one call must not pass by the one who has many.
TEST(HttpWaitingCalls, StarvesNobodyByNewcomers) {
  HttpWaitingCalls calls;
  for (int i = 0; i < 3; ++i) calls.push(waiting("a"));
  std::string order;
  for (const char* newcomer : {"b", "c", "b", "c"}) {
    calls.push(waiting(newcomer));
    order += calls.pop()->owner;
  }
  EXPECT_EQ(order, "abca");
}

TEST(HttpWaitingCalls, ForgetsOwnersWhoseTimeIsOver) {
  HttpWaitingCalls calls;
  calls.push(waiting("a", SteadyTime::min()));
  calls.push(waiting("b"));
  calls.push(waiting("b", SteadyTime::min()));
  EXPECT_EQ(calls.take_expired(SteadyTime{}).size(), 2u);
  EXPECT_EQ(order_of(calls), "b");
}

HttpClientLimits small_limits() {
  HttpClientLimits limits;
  limits.connections_per_origin_max = 2;
  limits.waiting_per_origin_max = 6;
  limits.waiting_per_owner_and_origin_max = 2;
  limits.connections_max = 8;
  limits.connections_per_owner_max = 4;
  limits.calls_max = 20;
  limits.calls_per_owner_max = 10;
  return limits;
}

// Takes until there is no room; how many it took.
std::size_t fill(HttpAdmission& admission, HttpAdmission::Origin& origin,
                 const std::string& owner) {
  std::size_t count = 0;
  for (; admission.has_room(origin, owner); ++count) admission.take(origin, owner);
  return count;
}

// The same over several origins.
std::size_t fill_all(HttpAdmission& admission, std::span<HttpAdmission::Origin> origins,
                     const std::string& owner) {
  std::size_t count = 0;
  for (HttpAdmission::Origin& origin : origins) count += fill(admission, origin, owner);
  return count;
}

TEST(HttpAdmission, BoundsAnOwnerAtAnOriginAndLeavesRoomToOthers) {
  HttpAdmission admission(small_limits());
  HttpAdmission::Origin origin;
  EXPECT_EQ(fill(admission, origin, "a"), 4u);
  EXPECT_EQ(fill(admission, origin, "b"), 4u);
  EXPECT_EQ(fill(admission, origin, "c"), 0u) << "the origin has 2 connections and 6 who wait";
}

// Hanging hosts without number: what one owner may open is a part of all.
TEST(HttpAdmission, BoundsTheConnectionsOfAnOwnerOverAllOrigins) {
  HttpAdmission admission(small_limits());
  HttpAdmission::Origin origins[6];
  EXPECT_EQ(fill_all(admission, origins, "a"), 8u)
      << "two origins with 2 connections and 2 who wait each";
  EXPECT_TRUE(admission.has_room(origins[5], "b"));
  EXPECT_FALSE(admission.has_room(origins[5], "a"));
}

TEST(HttpAdmission, BoundsTheCallsOfAnOwnerOverAllOrigins) {
  HttpClientLimits limits = small_limits();
  limits.connections_per_owner_max = 8;
  HttpAdmission admission(limits);
  HttpAdmission::Origin origins[4];
  EXPECT_EQ(fill_all(admission, origins, "a"), limits.calls_per_owner_max);
  EXPECT_TRUE(admission.has_room(origins[3], "b"));
}

// Many collections of one subscription must not take all that the engine can have on the wire.
TEST(HttpAdmission, BoundsTheCallsOfATenantOverAllItsOwners) {
  HttpClientLimits limits = small_limits();
  limits.calls_per_tenant_max = 6;
  HttpAdmission admission(limits);
  HttpAdmission::Origin origins[3];
  EXPECT_EQ(fill(admission, origins[0], "t/g/a"), 4u);
  EXPECT_EQ(fill(admission, origins[1], "t/g/b"), 2u) << "what its neighbour has left";
  EXPECT_FALSE(admission.has_room(origins[2], "t/g/c"));
  EXPECT_TRUE(admission.has_room(origins[2], "t2/g/a"));
  admission.release(origins[0], "t/g/a");
  EXPECT_TRUE(admission.has_room(origins[2], "t/g/c"));
}

// Nor all the room that there is at a host which others call as well.
TEST(HttpAdmission, BoundsATenantAtAnOriginOverAllItsOwners) {
  HttpClientLimits limits = small_limits();
  limits.waiting_per_tenant_and_origin_max = 4;
  HttpAdmission admission(limits);
  HttpAdmission::Origin origin;
  EXPECT_EQ(fill(admission, origin, "t/g/a"), 4u);
  EXPECT_EQ(fill(admission, origin, "t/g/b"), 2u);
  EXPECT_EQ(fill(admission, origin, "t/g/c"), 0u);
  EXPECT_EQ(fill(admission, origin, "t2/g/a"), 2u);
  admission.release(origin, "t2/g/a");
  admission.release(origin, "t/g/a");
  EXPECT_TRUE(admission.has_room(origin, "t/g/c"));
}

TEST(HttpAdmission, BoundsTheCallsInAll) {
  HttpClientLimits limits = small_limits();
  limits.connections_max = 100;
  HttpAdmission admission(limits);
  HttpAdmission::Origin origins[7];
  std::size_t taken = 0;
  for (int i = 0; i < 7; ++i) taken += fill(admission, origins[i], std::string(1, "abcdefg"[i]));
  EXPECT_EQ(taken, 20u);
}

TEST(HttpAdmission, HasAllItsRoomAgainWhenEverythingIsReleased) {
  HttpAdmission admission(small_limits());
  HttpAdmission::Origin origin;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(fill(admission, origin, "a"), 4u);
    ASSERT_EQ(fill(admission, origin, "b"), 4u);
    for (int i = 0; i < 4; ++i) {
      admission.release(origin, "a");
      admission.release(origin, "b");
    }
    EXPECT_TRUE(admission.none());
    EXPECT_TRUE(origin.calls_of_owner.empty());
  }
}

// One connection, a thousand calls of one owner before it: the other's call is the next.
TEST(HttpClientFairness, SendsTheCallOfAnotherOwnerNext) {
  std::latch all_waiting(1);
  std::mutex mutex;
  std::vector<std::string> order;
  const ScriptedTarget target([&](Conversation& conversation) {
    all_waiting.wait();
    for (std::string request; !(request = conversation.request()).empty();) {
      {
        const std::lock_guard lock(mutex);
        order.push_back(request.substr(5, 1));
      }
      conversation.answer();
    }
  });
  HttpClientLimits limits;
  limits.connections_per_origin_max = 1;
  limits.waiting_per_owner_and_origin_max = 1'000;
  limits.waiting_per_tenant_and_origin_max = 1'000;
  limits.waiting_per_origin_max = 4'000;
  const auto client = start_client(local_options(limits));
  for (int i = 0; i < 1'000; ++i) begin(*client, call_of("a", target.port()));
  auto last_of_a = begin(*client, call_of("a", target.port()));
  auto of_b = begin(*client, call_of("b", target.port()));
  EXPECT_FALSE(client->send(call_of("a", target.port()), [](auto) {})) << "a has its part";
  // Calls are taken in the order in which they come: when this one is answered, all are waiting.
  const ScriptedTarget elsewhere(answer_all);
  EXPECT_EQ(reply_of(await(begin(*client, call_of("c", elsewhere.port())))).status, 200);
  all_waiting.count_down();
  EXPECT_EQ(reply_of(await(std::move(of_b))).status, 200);
  EXPECT_EQ(reply_of(await(std::move(last_of_a))).status, 200);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(order.size(), 1'002u);
  EXPECT_EQ(order[1], "b");
}

// A hundred hosts that hang, each filled by the same owner: the client has room for others.
TEST(HttpClientFairness, LetsAnOwnerOfManyHangingHostsDelayNoOther) {
  const ScriptedTarget hanging(hang);
  const ScriptedTarget lively(answer_all);
  HttpClientLimits limits;
  limits.connections_max = 40;
  limits.connections_per_owner_max = 10;
  limits.waiting_per_owner_and_origin_max = 10;
  limits.connections_per_origin_max = 2;
  HttpClient::Options options = local_options(limits);
  options.resolve = [](const std::string&, const ResolveDone& done) {
    done({{*IpAddress::parse("127.0.0.1")}, {}});
  };
  const auto client = start_client(std::move(options));
  std::size_t refused_hosts = 0;
  for (int host = 0; host < 100; ++host) {
    HttpCall call = call_of("greedy", hanging.port());
    call.origin.host = "host" + std::to_string(host) + ".test";
    if (!client->send(call, [](auto) {})) ++refused_hosts;
    while (client->send(call, [](auto) {})) {
    }
  }
  EXPECT_EQ(refused_hosts, 95u);
  EXPECT_LE(hanging.connections(), 10u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(reply_of(ask(*client, call_of("modest", lively.port()))).status, 200);
  }
}

}  // namespace
}  // namespace belfry
