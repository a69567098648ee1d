// SPDX-License-Identifier: MIT
//
// Owners of messages share the client: none delays or shuts out another.

#include <gtest/gtest.h>

#include <latch>

#include "net/amqp_client.h"
#include "net/amqp_client_test_calls.h"
#include "net/amqp_test_broker.h"

namespace belfry {
namespace {

constexpr AmqpTestBroker::Options kSilent{.does = AmqpTestBroker::Does::say_nothing};

AmqpCall message_of(const std::string& owner, std::uint16_t port) {
  AmqpCall call = message_to(port);
  call.owner = owner;
  AmqpMessage message;
  message.subject = "of-" + owner;
  call.message = encode_amqp_message(message);
  return call;
}

// How many messages of the owner there is room for.
int fill(AmqpClient& client, const std::string& owner, std::uint16_t port) {
  int count = 0;
  while (client.send(message_of(owner, port), [](const AmqpResult&) {})) ++count;
  return count;
}

std::unique_ptr<AmqpClient> start(const AmqpLimits& limits) {
  return start_amqp_client(local_amqp_options(limits));
}

// All of them wait for the connection: the other's message is the second on the wire.
TEST(AmqpClientFairness, SendsTheMessageOfAnotherOwnerNext) {
  const AmqpTestBroker broker({});
  std::latch all_waiting(1);
  AmqpClient::Options options = local_amqp_options();
  options.resolve = [&](const std::string&, const ResolveDone& done) {
    all_waiting.wait();
    done({{*IpAddress::parse("127.0.0.1")}, {}});
  };
  const auto client = start_amqp_client(std::move(options));
  AmqpResults results;
  const auto send = [&](const std::string& owner) {
    AmqpCall call = message_of(owner, broker.port());
    call.broker.host = "broker.test";
    EXPECT_TRUE(client->send(std::move(call), results.receiver()));
  };
  for (int i = 0; i < 200; ++i) send("a");
  send("b");
  all_waiting.count_down();
  results.take(201);
  const std::vector<std::string> order = broker.received();
  ASSERT_EQ(order.size(), 201u);
  EXPECT_NE(order[1].find("of-b"), std::string::npos) << "it did not wait for all of a's";
}

TEST(AmqpClientFairness, BoundsAnOwnerAtABrokerAndLeavesRoomToOthers) {
  const AmqpTestBroker broker(kSilent);
  const AmqpTestBroker another(kSilent);
  AmqpLimits limits;
  limits.calls_per_broker_max = 5;
  limits.calls_per_owner_and_broker_max = 3;
  const auto client = start(limits);
  EXPECT_EQ(fill(*client, "a", broker.port()), 3);
  EXPECT_EQ(fill(*client, "b", broker.port()), 2) << "the broker has five";
  EXPECT_EQ(fill(*client, "a", another.port()), 3) << "another broker is another queue";
}

// Brokers without number that hang: what one owner may open is a part of all.
TEST(AmqpClientFairness, BoundsTheBrokersOfAnOwner) {
  const AmqpTestBroker broker(kSilent);
  const AmqpTestBroker another(kSilent);
  AmqpLimits limits;
  limits.brokers_per_owner_max = 1;
  limits.calls_per_owner_and_broker_max = 2;
  const auto client = start(limits);
  EXPECT_EQ(fill(*client, "a", broker.port()), 2);
  EXPECT_EQ(fill(*client, "a", another.port()), 0);
  EXPECT_EQ(fill(*client, "b", another.port()), 2);
}

// Connections are kept for a while; that must not keep others from theirs.
TEST(AmqpClientFairness, AnIdleBrokerGivesWayToAnother) {
  const AmqpTestBroker idle({});
  const AmqpTestBroker another({});
  AmqpLimits limits;
  limits.brokers_max = 1;
  const auto client = start(limits);
  for (int i = 1; i <= 2; ++i) {
    for (const AmqpTestBroker* broker : {&idle, &another}) {
      EXPECT_TRUE(std::holds_alternative<AmqpAccepted>(
          outcome_of(*client, message_of("a", broker->port()))));
      EXPECT_EQ(broker->connections(), i) << "it was closed when the other was needed";
      EXPECT_EQ(client->loads().size(), 1u);
    }
  }
}

TEST(AmqpClientFairness, BoundsAnOwnerAndATenantOverAllBrokers) {
  const AmqpTestBroker broker(kSilent);
  const AmqpTestBroker another(kSilent);
  AmqpLimits limits;
  limits.calls_per_owner_and_broker_max = 2;
  limits.calls_per_owner_max = 3;
  limits.calls_per_tenant_max = 4;
  const auto client = start(limits);
  EXPECT_EQ(fill(*client, "t/g/a", broker.port()), 2);
  EXPECT_EQ(fill(*client, "t/g/a", another.port()), 1);
  EXPECT_EQ(fill(*client, "t/g/b", another.port()), 1) << "what its neighbour has left";
  EXPECT_EQ(fill(*client, "u/g/a", another.port()), 2);
}

TEST(AmqpClientFairness, HasRoomAgainWhenTheBrokerHasSpoken) {
  const AmqpTestBroker broker({});
  AmqpLimits limits;
  limits.calls_per_owner_and_broker_max = 1;
  const auto client = start(limits);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(
        std::holds_alternative<AmqpAccepted>(outcome_of(*client, message_of("a", broker.port()))));
  }
}

}  // namespace
}  // namespace belfry
