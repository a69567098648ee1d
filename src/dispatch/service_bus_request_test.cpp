// SPDX-License-Identifier: MIT

#include "dispatch/service_bus_request.h"

#include <gtest/gtest.h>

#include "dispatch/service_bus_samples.h"

namespace belfry {
namespace {

using namespace std::chrono_literals;

ServiceBusQueueAction an_action() {
  ServiceBusQueueAction action;
  action.queue_name = "dir/q1";
  action.message = sample_message();
  return action;
}

HttpCall call_of(const ServiceBusQueueAction& action,
                 std::string_view endpoint = "https://{namespace}.servicebus.windows.net") {
  auto call = service_bus_call_of(service_bus_target(action), kAttempt, kKey,
                                  {endpoint, "Belfry/1.2.3", kNow + 20min});
  EXPECT_TRUE(call.has_value());
  return *std::move(call);
}

TEST(ServiceBusRequest, PostsTheTextToTheEntity) {
  const HttpCall call = call_of(an_action());
  EXPECT_EQ(call.origin, (HttpOrigin{true, "contoso.servicebus.windows.net", 443}));
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/dir/q1/messages");
  EXPECT_EQ(call.body, "hello");
  EXPECT_EQ(
      header_of(call.headers, "Authorization"),
      shared_access_signature("https://contoso.servicebus.windows.net/dir/q1", kKey, kNow + 20min));
  EXPECT_EQ(call_of(an_action(), "http://127.0.0.1:5380/{namespace}").target,
            "/Contoso/dir/q1/messages");
}

// Brokers that look for duplicates know a repetition by this.
TEST(ServiceBusRequest, TakesTheAttemptsKeyForTheMessageIdUnlessTheJobHasOne) {
  ServiceBusQueueAction action = an_action();
  EXPECT_EQ(header_of(call_of(action).headers, "BrokerProperties"),
            "{\"MessageId\":\"" + idempotency_key(kAttempt) + "\"}");
  action.message.brokered.message_id = "mine";
  EXPECT_EQ(header_of(call_of(action).headers, "BrokerProperties"), "{\"MessageId\":\"mine\"}");
}

TEST(ServiceBusRequest, CarriesEveryBrokeredProperty) {
  ServiceBusQueueAction action = an_action();
  BrokeredProperties& brokered = action.message.brokered;
  brokered = {"text/plain",
              "c\"\\\n",
              "l\xC3\xA4\xF0\x9F\x94\x94",
              "m",
              "p",
              "r",
              "rs",
              "s",
              "t",
              "v",
              true,
              kNow + 3h,
              Ticks{95'000'000}};
  const HttpCall call = call_of(action);
  EXPECT_EQ(header_of(call.headers, "Content-Type"), "text/plain");
  EXPECT_EQ(header_of(call.headers, "BrokerProperties"),
            R"({"MessageId":"m","CorrelationId":"c\"\\\u000a","SessionId":"s",)"
            R"("Label":"l\u00e4\ud83d\udd14","To":"t","ReplyTo":"r","ReplyToSessionId":"rs",)"
            R"("PartitionKey":"p","ViaPartitionKey":"v","TimeToLive":9.5,)"
            R"("ScheduledEnqueueTimeUtc":"Tue, 01 Jan 2030 03:00:00 GMT",)"
            R"("ForcePersistence":true})");
}

TEST(ServiceBusRequest, KeepsTheTypesOfCustomProperties) {
  ServiceBusQueueAction action = an_action();
  action.message.custom = {{"text", std::string("7 \"\xC3\xA4\"")},
                           {"flag", false},
                           {"number", std::int64_t{-7}},
                           {"real", 2.0},
                           {"small", 1e-9}};
  const HttpHeaders headers = call_of(action).headers;
  EXPECT_EQ(header_of(headers, "text"), R"("7 \"\u00e4\"")");
  EXPECT_EQ(header_of(headers, "flag"), "false");
  EXPECT_EQ(header_of(headers, "number"), "-7");
  EXPECT_EQ(header_of(headers, "real"), "2.0");
  EXPECT_EQ(header_of(headers, "small"), "1e-09");
}

TEST(ServiceBusRequest, TakesTheJobsKeyThenTheConfigurationsThenNone) {
  ServiceBusMessage message = an_action().message;
  const SharedAccessKeys configured = {{{"contoso", "sender"}, Secret("configured")}};
  EXPECT_EQ(shared_access_key_of(message, configured)->key, Secret("configured"));
  message.sas_key = Secret("own");
  EXPECT_EQ(shared_access_key_of(message, configured)->key, Secret("own"));
  message.sas_key = {};
  message.sas_key_name = "Sender";
  EXPECT_FALSE(shared_access_key_of(message, configured));
  message.service_namespace = "other";
  EXPECT_FALSE(shared_access_key_of(message, configured));
}

}  // namespace
}  // namespace belfry
