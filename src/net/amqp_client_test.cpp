// SPDX-License-Identifier: MIT

#include "net/amqp_client.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/amqp_client_test_calls.h"
#include "net/amqp_test_broker.h"
#include "net/http_client_exchange.h"

namespace belfry {
namespace {

using Does = AmqpTestBroker::Does;

std::unique_ptr<AmqpClient> start(const AmqpLimits& limits = {}) {
  return start_amqp_client(local_amqp_options(limits));
}

// Waits for what another thread is about to do.
template <typename Condition>
bool comes_true(Condition condition) {
  const SteadyTime until = SteadyClock::now() + kPatience;
  while (!condition() && SteadyClock::now() < until) std::this_thread::yield();
  return condition();
}

std::string refusal_of(const AmqpOutcome& outcome) {
  const auto* refusal = std::get_if<AmqpRefusal>(&outcome);
  return refusal == nullptr ? "none" : refusal->word + " " + refusal->condition;
}

HttpFailureKind failure_of(const AmqpOutcome& outcome) {
  const auto* failure = std::get_if<HttpFailure>(&outcome);
  EXPECT_NE(failure, nullptr);
  return failure == nullptr ? HttpFailureKind::invalid_call : failure->kind;
}

TEST(AmqpClient, SendsManyMessagesOverOneConnectionWithOneToken) {
  const AmqpTestBroker broker({});
  const auto client = start();
  AmqpResults results;
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(client->send(message_to(broker.port()), results.receiver()));
  }
  for (const AmqpOutcome& outcome : results.take(500)) {
    EXPECT_TRUE(std::holds_alternative<AmqpAccepted>(outcome));
  }
  EXPECT_EQ(broker.messages(), 500);
  EXPECT_EQ(broker.connections(), 1);
  EXPECT_EQ(broker.tokens(), 1);
}

TEST(AmqpClient, HoldsAMessageBackAsLongAsItIsTo) {
  const AmqpTestBroker broker({});
  const auto client = start();
  EXPECT_TRUE(std::holds_alternative<AmqpAccepted>(outcome_of(*client, message_to(broker.port()))));
  AmqpCall call = message_to(broker.port());
  call.hold = Millis{200};  // longer than a message takes on a connection that is there
  const SteadyTime before = SteadyClock::now();
  EXPECT_TRUE(std::holds_alternative<AmqpAccepted>(outcome_of(*client, std::move(call))));
  EXPECT_GE(SteadyClock::now(), before + Millis{200});
}

TEST(AmqpClient, SaysWhatTheBrokerSays) {
  const std::pair<Does, const char*> cases[] = {{Does::reject, "Rejected test:no"},
                                                {Does::release, "Released "},
                                                {Does::modify, "Modified "},
                                                {Does::refuse_link, "Detached amqp:not-found"}};
  const auto client = start();
  for (const auto& [does, expected] : cases) {
    const AmqpTestBroker broker({.does = does, .takes_tokens = true});
    EXPECT_EQ(refusal_of(outcome_of(*client, message_to(broker.port()))), expected);
  }
}

TEST(AmqpClient, SendsNothingWhenTheTokenIsRefused) {
  const AmqpTestBroker broker({.does = Does::accept, .takes_tokens = false});
  const auto client = start();
  EXPECT_EQ(refusal_of(outcome_of(*client, message_to(broker.port()))), "Unauthorized 401");
  EXPECT_EQ(broker.messages(), 0);
}

TEST(AmqpClient, EndsAnAttemptWithItsTime) {
  const auto client = start();
  for (const Does does : {Does::say_nothing, Does::give_no_credit}) {
    const AmqpTestBroker broker({.does = does, .takes_tokens = true});
    AmqpCall call = message_to(broker.port());
    call.timeout = Millis{200};
    EXPECT_EQ(failure_of(outcome_of(*client, std::move(call))), HttpFailureKind::timeout);
  }
}

TEST(AmqpClient, RenewsTokensBeforeTheyExpire) {
  const AmqpTestBroker broker({});
  const auto client = start();
  std::atomic<int> made{0};
  std::promise<void> third;
  AmqpCall call = message_to(broker.port());
  call.token = [&] {
    if (++made == 3) third.set_value();
    return AmqpToken{"token", Millis{50}};
  };
  EXPECT_TRUE(std::holds_alternative<AmqpAccepted>(outcome_of(*client, std::move(call))));
  EXPECT_EQ(third.get_future().wait_for(kPatience), std::future_status::ready);
  client->stop();
}

// What was on the connection fails, what comes after it gets a new one.
TEST(AmqpClient, BeginsANewConnectionWhenTheOldOneIsLost) {
  AmqpTestBroker broker({.does = Does::say_nothing, .takes_tokens = true});
  const auto client = start();
  for (int i = 1; i <= 3; ++i) {
    AmqpResults results;
    EXPECT_TRUE(client->send(message_to(broker.port()), results.receiver()));
    EXPECT_TRUE(comes_true([&] { return broker.messages() == i; }));
    broker.drop_connection();
    EXPECT_EQ(failure_of(results.take(1).at(0)), HttpFailureKind::closed);
    EXPECT_EQ(broker.connections(), i);
  }
}

TEST(AmqpClient, KeepsIdentitiesApart) {
  const AmqpTestBroker first({});
  const auto client = start();
  AmqpCall other = message_to(first.port());
  other.broker.password = "another key";
  EXPECT_NE(message_to(first.port()).broker, other.broker);
  outcome_of(*client, message_to(first.port()));
  EXPECT_EQ(first.connections(), 1);
  // The broker serves one at a time: the second identity is still in its queue.
  other.timeout = Millis{100};
  EXPECT_EQ(failure_of(outcome_of(*client, std::move(other))), HttpFailureKind::timeout);
  EXPECT_EQ(first.messages(), 1);
}

TEST(AmqpClient, RefusesBeyondItsLimitsAndWhenItEnds) {
  const AmqpTestBroker broker({.does = Does::say_nothing, .takes_tokens = true});
  AmqpLimits limits;
  limits.calls_per_broker_max = 2;
  limits.brokers_max = 1;
  const auto client = start(limits);
  AmqpResults results;
  EXPECT_TRUE(client->send(message_to(broker.port()), results.receiver()));
  EXPECT_TRUE(client->send(message_to(broker.port()), results.receiver()));
  EXPECT_FALSE(client->send(message_to(broker.port()), results.receiver()));
  EXPECT_FALSE(client->send(message_to(1), results.receiver()));
  const auto loads = client->loads();
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads.front().port, broker.port());
  EXPECT_EQ(loads.front().waiting, 2u) << "for a word of the broker's";
  EXPECT_FALSE(client->drain(Millis{0}));
  client->stop();
  EXPECT_FALSE(client->send(message_to(broker.port()), results.receiver()));
  EXPECT_EQ(results.size(), 0u);
}

TEST(AmqpClient, RefusesMoreMessagesInAllThanAllowed) {
  const AmqpTestBroker broker({.does = Does::say_nothing, .takes_tokens = true});
  const AmqpTestBroker other({.does = Does::say_nothing, .takes_tokens = true});
  AmqpLimits limits;
  limits.calls_max = 2;
  AmqpResults results;
  const auto client = start(limits);
  EXPECT_TRUE(client->send(message_to(broker.port()), results.receiver()));
  EXPECT_TRUE(client->send(message_to(other.port()), results.receiver()));
  EXPECT_FALSE(client->send(message_to(2), results.receiver()));
}

TEST(AmqpClient, DialsNoForbiddenAddress) {
  const AmqpTestBroker broker({});
  AmqpClient::Options options = local_amqp_options();
  options.guard = EgressGuard({.allow_loopback = false, .allowed = {}});
  const auto client = start_amqp_client(std::move(options));
  EXPECT_EQ(failure_of(outcome_of(*client, message_to(broker.port()))),
            HttpFailureKind::forbidden_address);
  EXPECT_EQ(broker.connections(), 0);
}

TEST(AmqpClient, SaysWhyNobodyIsThere) {
  const auto client = start();
  EXPECT_EQ(failure_of(outcome_of(*client, message_to(1))), HttpFailureKind::connect);
  AmqpCall call = message_to(1);
  call.broker.host = "0x7f.1";
  EXPECT_EQ(failure_of(outcome_of(*client, std::move(call))), HttpFailureKind::name_resolution);
}

// Links and connections that nobody uses are closed, and the next message opens new ones.
TEST(AmqpClient, ClosesWhatIsIdle) {
  const AmqpTestBroker broker({});
  AmqpLimits limits;
  limits.idle_timeout = Millis{1};
  const auto client = start(limits);
  for (int i = 1; i <= 2; ++i) {
    EXPECT_TRUE(
        std::holds_alternative<AmqpAccepted>(outcome_of(*client, message_to(broker.port()))));
    EXPECT_TRUE(comes_true([&] { return broker.goodbyes() == i; }));
    EXPECT_EQ(broker.connections(), i);
  }
}

}  // namespace
}  // namespace belfry
