// SPDX-License-Identifier: MIT

#include "dispatch/service_bus_amqp.h"

#include <gtest/gtest.h>

#include "dispatch/service_bus_samples.h"

namespace belfry {
namespace {

using namespace std::chrono_literals;

ServiceBusTopicAction an_action() {
  ServiceBusTopicAction action;
  action.topic_path = "dir/t1";
  action.message = sample_message();
  return action;
}

TEST(ServiceBusAmqp, FindsTheBroker) {
  const auto at = [](std::string_view pattern) { return amqp_endpoint_of(pattern, "Contoso"); };
  EXPECT_EQ(at("amqps://{namespace}.servicebus.windows.net"),
            (AmqpEndpoint{true, "contoso.servicebus.windows.net", 5671}));
  EXPECT_EQ(at("AMQP://127.0.0.1"), (AmqpEndpoint{false, "127.0.0.1", 5672}));
  EXPECT_EQ(at("amqp://[::1]:7/"), (AmqpEndpoint{false, "::1", 7}));
  EXPECT_EQ(at("amqps://[::1]"), (AmqpEndpoint{true, "::1", 5671}));
  for (const char* wrong : {"https://{namespace}", "{namespace}", "amqp://", "amqp://a/b",
                            "amqps://a:0", "amqps://u@a"}) {
    EXPECT_FALSE(at(wrong)) << wrong;
  }
}

TEST(ServiceBusAmqp, MapsEveryPropertyAsServiceBusDoes) {
  ServiceBusMessage message = an_action().message;
  message.brokered = {"text/plain", "corr",          "label",      "id", "part",
                      "reply",      "reply-session", "session",    "to", "via",
                      false,        kNow + 90s,      Ticks{10'000}};
  message.custom = {{"a", std::string("b")}, {"n", std::int64_t{7}}};
  const AmqpMessage out = service_bus_amqp_message(message, kAttempt);
  EXPECT_EQ(out.message_id, "id");
  EXPECT_EQ(out.content_type, "text/plain");
  EXPECT_EQ(out.correlation_id, "corr");
  EXPECT_EQ(out.subject, "label");
  EXPECT_EQ(out.reply_to, "reply");
  EXPECT_EQ(out.reply_to_group_id, "reply-session");
  EXPECT_EQ(out.group_id, "session");
  EXPECT_EQ(out.to, "to");
  EXPECT_FALSE(out.durable);
  EXPECT_EQ(out.time_to_live, Millis{1});
  const decltype(out.annotations) annotations = {{"x-opt-partition-key", std::string("part")},
                                                 {"x-opt-via-partition-key", std::string("via")},
                                                 {"x-opt-scheduled-enqueue-time", kNow + 90s}};
  EXPECT_EQ(out.annotations, annotations);
  EXPECT_EQ(out.properties, message.custom);
  EXPECT_EQ(out.body, "hello");
}

TEST(ServiceBusAmqp, KeepsTheMessageAndCarriesTheKeyOfTheOccurrence) {
  const AmqpMessage out = service_bus_amqp_message(an_action().message, kAttempt);
  EXPECT_TRUE(out.durable);
  EXPECT_EQ(out.message_id, idempotency_key(kAttempt));
}

TEST(ServiceBusAmqp, TellsTheBrokerWhoSendsAndWhere) {
  const VirtualClock clock(kNow);
  ServiceBusOptions options;
  options.amqp_address = "/{kind}/{entity}";
  options.token_lifetime = 10min;
  const ServiceBusTopicAction action = an_action();
  const auto call =
      service_bus_amqp_call(service_bus_target(action), kAttempt, kKey, options, clock);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->broker, (AmqpBroker{true, "contoso.servicebus.windows.net", 5671,
                                      AmqpLogin::token, "sender", "key"}));
  EXPECT_EQ(call->address, "/topic/dir/t1");
  EXPECT_EQ(call->audience, "sb://contoso.servicebus.windows.net/dir/t1");
  const AmqpToken token = call->token();
  EXPECT_EQ(token.text, shared_access_signature(call->audience, kKey, kNow + 10min));
  EXPECT_EQ(token.good_for, 10min);
  options.amqp_endpoint = "nowhere";
  EXPECT_FALSE(service_bus_amqp_call(service_bus_target(action), kAttempt, kKey, options, clock));
}

TEST(ServiceBusAmqp, SaysWhatCameOfItInTheWordsOfTheHistory) {
  const auto of = [](const AmqpOutcome& outcome) {
    return amqp_outcome("ServiceBusQueue", "h", outcome);
  };
  EXPECT_TRUE(of(AmqpAccepted{}).succeeded);
  EXPECT_EQ(of(AmqpAccepted{}).message,
            "ServiceBusQueue Action - Response from host 'h': 'Accepted'");
  const Outcome refused = of(AmqpRefusal{"Rejected", "amqp:not-found", "no \xFF queue"});
  EXPECT_FALSE(refused.succeeded);
  EXPECT_EQ(refused.message,
            "ServiceBusQueue Action - Response from host 'h': 'Rejected' amqp:not-found "
            "no \xEF\xBF\xBD queue");
  const Outcome failed = of(HttpFailure{HttpFailureKind::connect, "refused"});
  EXPECT_FALSE(failed.succeeded);
  EXPECT_EQ(failed.message,
            "ServiceBusQueue Action - Request to host 'h' failed: ConnectFailure Unable to "
            "connect to the remote server (refused)");
  EXPECT_LE(of(AmqpRefusal{"Closed", "", std::string(100'000, 'x')}).message.size(), 2048u);
}

}  // namespace
}  // namespace belfry
