// SPDX-License-Identifier: MIT

#include "wire/job_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "model/attempt.h"
#include "wire/definition_json.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

namespace json = boost::json;

json::value parsed(std::string_view text) {
  return *parse_json(text, JsonDialect::relaxed);
}

JobRequest accepted(std::string_view body) {
  Reading reading;
  JobRequest request = read_job(parsed(body), reading);
  for (const Error& error : reading.errors) ADD_FAILURE() << error.target << ": " << error.message;
  return request;
}

// There and back, as a store keeps it.
JobDefinition stored(const JobDefinition& definition) {
  auto again = parse_definition(definition_text(definition));
  if (!again) ADD_FAILURE() << again.error().message;
  EXPECT_TRUE(add_secrets(again->action, secrets_text(definition.action)));
  if (definition.error_action) {
    EXPECT_TRUE(add_secrets(*again->error_action, secrets_text(*definition.error_action)));
  }
  return *std::move(again);
}

std::vector<std::string> refused(std::string_view body) {
  Reading reading;
  static_cast<void>(read_job(parsed(body), reading));
  std::vector<std::string> targets;
  for (const Error& error : reading.errors) targets.push_back(error.target);
  return targets;
}

const char* const kEverything = R"({"properties":{
  "startTime":"2030-01-01T06:00:00+02:00",
  "action":{"type":"https","request":{"uri":"https://example.test/hook","method":"post",
      "headers":{"ConTent-tYPe":"application/json"},"body":"{}",
      "authentication":{"type":"basic","username":"u","password":"secret-1"}},
    "retryPolicy":{"retryType":"Fixed","retryInterval":"PT30S","retryCount":4},
    "errorAction":{"type":"StorageQueue","queueMessage":{"storageAccount":"acct",
      "queueName":"errs","sasToken":"secret-2","message":"failed"}}},
  "recurrence":{"frequency":"Week","schedule":{"weekDays":["Monday"],"hours":[4],"minutes":[0]},
    "count":10},
  "state":"Enabled"}})";

std::string text_of(const Job& job, std::optional<Instant> next_execution) {
  JsonWriter out;
  write_job(out, job, next_execution);
  return out.take();
}

json::value shown_job(const Job& job, std::optional<Instant> next_execution) {
  return parsed(text_of(job, next_execution));
}

json::value shown_row(const JobKey& key, const HistoryEntry& entry,
                      SuccessStatus success = SuccessStatus::omitted) {
  JsonWriter out;
  HistoryWriter(key, success).write(out, entry);
  return parsed(out.text());
}

// Ours: what is being tried. A job that only waits for its next occurrence has nothing of it.
TEST(JobJson, TellsWhatIsBeingTried) {
  const auto shown = [](const DueAttempt& next) {
    Job job;
    job.id = JobId{42};
    job.definition = accepted(kEverything).definition;
    job.next = next;
    const json::value written = shown_job(job, std::nullopt);
    const auto& status = written.at("properties").at("status").as_object();
    const auto* found = status.if_contains("currentAttempt");
    return found == nullptr ? std::string("nothing") : json::serialize(*found);
  };
  const Instant noon = *parse_instant("2030-01-01T12:00Z");
  DueAttempt next{.due = noon, .occurrence = {noon, 3}};
  EXPECT_EQ(shown(next), "nothing");
  next.started = noon + Seconds{1};
  const std::string tag = occurrence_tag(JobId{42}, 3);
  EXPECT_EQ(shown(next), R"({"executionTag":")" + tag +
                             R"(","expectedExecutionTime":"2030-01-01T12:00:00Z","actionName":)"
                             R"("MainAction","retryCount":0,"startTime":"2030-01-01T12:00:01Z"})");
  next = {
      .due = noon + Seconds{30}, .occurrence = {noon, 3}, .role = ActionRole::error, .retry = 2};
  EXPECT_EQ(shown(next), R"({"executionTag":")" + tag +
                             R"(","expectedExecutionTime":"2030-01-01T12:00:00Z","actionName":)"
                             R"("ErrorAction","retryCount":2,"nextTryTime":)"
                             R"("2030-01-01T12:00:30Z"})");
}

TEST(JobJson, ComesBackAsTheLiveServiceWroteIt) {
  Job job;
  job.key = JobKey{{"s", "rg1", "jc1"}, "j1"};
  job.definition = accepted(kEverything).definition;
  EXPECT_EQ(
      text_of(job, parse_instant("2030-01-07T04:00Z")),
      R"({"id":"/subscriptions/s/resourceGroups/rg1/providers/Microsoft.Scheduler/jobCollections)"
      R"(/jc1/jobs/j1","type":"Microsoft.Scheduler/jobCollections/jobs","name":"jc1/j1",)"
      R"("properties":{"startTime":"2030-01-01T04:00:00Z","action":{"request":{"uri":)"
      R"("https://example.test/hook","method":"post","headers":{"ConTent-tYPe":)"
      R"("application/json"},"body":"{}","authentication":{"username":"u","type":"Basic"}},)"
      R"("type":"Https","retryPolicy":{"retryType":"fixed","retryInterval":"00:00:30",)"
      R"("retryCount":4},"errorAction":{"queueMessage":{"storageAccount":"acct","queueName":)"
      R"("errs","message":"failed"},"type":"StorageQueue"}},"recurrence":{"frequency":"week",)"
      R"("count":10,"interval":1,"schedule":{"minutes":[0],"hours":[4],"weekDays":["monday"]}},)"
      R"("state":"enabled","status":{"nextExecutionTime":"2030-01-07T04:00:00Z",)"
      R"("executionCount":0,"failureCount":0,"faultedCount":0}}})");
}

TEST(JobJson, SecretsTravelApartFromTheDefinition) {
  const JobDefinition definition = accepted(kEverything).definition;
  const std::string text = definition_text(definition);
  EXPECT_EQ(text.find("secret-"), std::string::npos);
  EXPECT_NE(secrets_text(definition.action).find("secret-1"), std::string::npos);
  EXPECT_NE(secrets_text(*definition.error_action).find("secret-2"), std::string::npos);
  EXPECT_EQ(stored(definition), definition);
}

TEST(JobJson, SecretsOfVersion01AreRead) {
  const JobDefinition definition = accepted(kEverything).definition;
  auto again = parse_definition(definition_text(definition));
  ASSERT_TRUE(again);
  EXPECT_TRUE(add_secrets_of_both(
      *again, R"({"action.password":"secret-1","errorAction.sasToken":"secret-2"})"));
  EXPECT_EQ(*again, definition);
}

TEST(JobJson, EveryActionRoundTrips) {
  for (const char* action : {
           R"({"type":"storageQueue","queueMessage":{"storageAccount":"myStorageAccount",
               "queueName":"myqueue","sasToken":"TOKEN","message":"My message body"}})",
           R"({"type":"serviceBusQueue","serviceBusQueueMessage":{"queueName":"q1",
               "namespace":"mySBNamespace","transportType":"netMessaging","authentication":
               {"sasKeyName":"QPolicy","type":"sharedAccessKey"},"message":"Some message",
               "brokeredMessageProperties":{},"customMessageProperties":
               {"appname":"FromScheduler"}}})",
           R"({"type":"serviceBusTopic","serviceBusTopicMessage":{"topicPath":"t1",
               "namespace":"ns","transportType":"AMQP","authentication":{"sasKeyName":"k",
               "sasKey":"s","type":"sharedAccessKey"},"message":"m","brokeredMessageProperties":
               {"contentType":"text/plain","label":"l","timeToLive":"PT1M","forcePersistence":true,
                "scheduledEnqueueTimeUtc":"2030-01-01T00:00Z","sessionId":"x"},
               "customMessageProperties":{"a":"1","b":2,"c":true,"d":1.5}}})",
           R"({"type":"https","request":{"uri":"https://h/","method":"GET","authentication":
               {"type":"ActiveDirectoryOAuth","tenant":"t","audience":"a","clientId":"c",
                "secret":"s"}}})",
           R"({"type":"http","request":{"uri":"http://h/","method":"HEAD","authentication":
               {"type":"clientcertificate","pfx":"AAAA","password":"p"}}})"}) {
    const JobDefinition definition =
        accepted(std::string(R"({"properties":{"action":)") + action + "}}").definition;
    EXPECT_EQ(stored(definition), definition) << action;
  }
}

// The founding documents put it in three places.
TEST(JobJson, RetryPolicyIsReadWhereverItStands) {
  const std::string request = R"("uri":"http://h/","method":"GET")";
  const std::string policy = R"("retryPolicy":{"retryType":"None"})";
  for (const std::string& body :
       {R"({"action":{"type":"http","request":{)" + request + "," + policy + "}}}",
        R"({"action":{"type":"http","request":{)" + request + "}," + policy + "}}",
        R"({"action":{"type":"http","request":{)" + request + "}}," + policy + "}"}) {
    const auto& read = accepted(body).definition.action.retry_policy;
    ASSERT_TRUE(read) << body;
    EXPECT_EQ(read->type, RetryType::none);
  }
}

// Ours: an action may have a time-out of its own, beside its payload or inside the request.
TEST(JobJson, TimeoutIsReadAndWrittenOnce) {
  const std::string request = R"("uri":"http://h/","method":"GET")";
  for (const std::string& body :
       {R"({"action":{"type":"http","timeout":"PT1M30S","request":{)" + request + "}}}",
        R"({"action":{"type":"http","timeout":"00:01:30","request":{)" + request +
            R"(,"timeout":"PT5S"}}})",
        R"({"action":{"type":"http","request":{)" + request + R"(,"timeout":"PT90S"}}})"}) {
    const JobDefinition definition = accepted(body).definition;
    EXPECT_EQ(definition.action.timeout, Ticks{std::chrono::seconds{90}}) << body;
    const std::string text = definition_text(definition);
    EXPECT_NE(text.find(R"("type":"Http","timeout":"00:01:30"})"), std::string::npos) << text;
    EXPECT_EQ(*parse_definition(text), definition);
  }
  EXPECT_EQ(definition_text(accepted(kEverything).definition).find("timeout"), std::string::npos);
}

TEST(JobJson, TimeoutOfTheErrorActionIsItsOwn) {
  const auto definition = accepted(R"({"action":{"type":"http","timeout":"PT1S","request":
      {"uri":"http://h/","method":"GET"},"errorAction":{"type":"http","timeout":"PT30M",
      "request":{"uri":"http://h/","method":"GET"}}}})")
                              .definition;
  EXPECT_EQ(definition.action.timeout, kActionTimeoutMin);
  EXPECT_EQ(definition.error_action->timeout, kActionTimeoutMax);
}

TEST(JobJson, TimeoutHasLimits) {
  using Targets = std::vector<std::string>;
  for (const char* timeout : {R"("PT0.9S")", R"("PT30M1S")", R"("soon")", "30"}) {
    EXPECT_EQ(refused(fmt::format(R"({{"action":{{"type":"http","timeout":{},"request":
                  {{"uri":"http://h/","method":"GET"}}}}}})",
                                  timeout)),
              Targets{"action.timeout"})
        << timeout;
    EXPECT_EQ(refused(fmt::format(R"({{"action":{{"type":"http","request":
                  {{"uri":"http://h/","method":"GET","timeout":{}}}}}}})",
                                  timeout)),
              Targets{"action.request.timeout"})
        << timeout;
  }
}

TEST(JobJson, WhatIsWrongIsNamed) {
  using Targets = std::vector<std::string>;
  EXPECT_EQ(refused("{}"), Targets{"action"});
  EXPECT_EQ(refused(R"({"properties":{"action":{"type":"http"}}})"),
            Targets{"properties.action.request"});
  EXPECT_EQ(refused(R"({"properties":{"action":{"type":"ftp"}}})"),
            Targets{"properties.action.type"});
  EXPECT_EQ(
      refused(R"({"properties":{"action":{"type":"http","request":{"uri":"ftp://x",
      "method":"BREW","headers":{"Host":"x","a b":"c","ok":"a\r\nb","n":1},"body":7}}}})"),
      (Targets{"properties.action.request.uri", "properties.action.request.method",
               "properties.action.request.headers.Host", "properties.action.request.headers.a b",
               "properties.action.request.headers.ok", "properties.action.request.headers.n",
               "properties.action.request.body"}));
  EXPECT_EQ(refused(R"({"properties":{"state":"completed","action":{"type":"http",
      "request":{"uri":"http://h/","method":"GET"},"retryPolicy":{"retryType":"fixed",
      "retryInterval":"PT5S","retryCount":21}}}})"),
            (Targets{"properties.action.retryPolicy.retryCount",
                     "properties.action.retryPolicy.retryInterval", "properties.state"}));
}

// Nor where it stands in an address that is refused for it.
TEST(JobJson, APasswordInAnAddressIsNotRepeated) {
  Reading reading;
  static_cast<void>(read_job(parsed(R"({"properties":{"action":{"type":"http","request":
      {"uri":"http://u:s3cr3t@h/","method":"GET"}}}})"),
                             reading));
  ASSERT_EQ(reading.errors.size(), 1u);
  EXPECT_EQ(reading.errors.front().message,
            "must be an absolute http or https address without credentials in it.");
}

// They belong to the connection or say where the message ends: a job that sets one would send
// another request than it seems to.
TEST(JobJson, HeadersOfTheConnectionCannotBeSet) {
  for (const std::string name :
       {"Connection", "content-length", "Expect", "HOST", "HTTP2-Settings", "Keep-Alive",
        "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "te", "Trailer",
        "Transfer-Encoding", "Upgrade"}) {
    EXPECT_EQ(refused(fmt::format(R"({{"action":{{"type":"http","request":{{"uri":"http://h/",
                  "method":"GET","headers":{{"{}":"v"}}}}}}}})",
                                  name)),
              std::vector<std::string>{"action.request.headers." + name});
  }
}

TEST(JobJson, LimitsHaveNames) {
  const auto job_with = [](const std::string& members) {
    return R"({"action":{"type":"http","request":{"uri":"http://h/","method":"PUT",)" + members +
           "}}}";
  };
  EXPECT_TRUE(refused(job_with("\"body\":\"" + std::string(kBodyBytesMax, 'x') + "\"")).empty());
  EXPECT_EQ(refused(job_with("\"body\":\"" + std::string(kBodyBytesMax + 1, 'x') + "\"")).size(),
            1u);
  std::string headers;
  for (std::size_t i = 0; i <= kHeadersMax; ++i) {
    headers += (i == 0 ? "" : ",") + std::string("\"h") + std::to_string(i) + "\":\"v\"";
  }
  EXPECT_EQ(refused(job_with("\"headers\":{" + headers + "}")).size(), 1u);
  EXPECT_EQ(refused(job_with("\"headers\":{\"h\":\"" + std::string(kHeadersBytesMax, 'v') + "\"}"))
                .size(),
            1u);
}

TEST(JobJson, APatchIsLaidOverTheJobAndKeepsSecrets) {
  Job job;
  job.definition = accepted(kEverything).definition;
  const auto patched = [&](std::string_view patch) {
    Reading reading;
    const JobRequest request =
        read_job(patched_job(job, parsed(patch)), reading, [&] { return &*job.definition; });
    for (const Error& error : reading.errors) ADD_FAILURE() << error.target << error.message;
    return request.definition;
  };
  const auto http = [](const JobDefinition& d) { return std::get<HttpAction>(d.action.what); };

  const auto faster =
      patched(R"({"properties":{"recurrence":{"frequency":"Day","schedule":null}}})");
  EXPECT_EQ(faster.timing.recurrence->frequency, Frequency::day);
  EXPECT_EQ(faster.timing.recurrence->count, 10);
  EXPECT_TRUE(faster.timing.recurrence->schedule.empty());
  EXPECT_EQ(faster.action, job.definition->action);

  const auto moved =
      patched(R"({"properties":{"action":{"request":{"uri":"https://example.test:443/new",
          "headers":{}}}}})");
  EXPECT_EQ(http(moved).uri, "https://example.test:443/new");
  EXPECT_TRUE(http(moved).headers.empty());
  EXPECT_EQ(http(moved).authentication, http(job.definition).authentication);
  EXPECT_EQ(moved.error_action, job.definition->error_action);

  const auto open = patched(R"({"properties":{"action":{"request":{"authentication":null}}}})");
  EXPECT_FALSE(http(open).authentication);

  const auto other = patched(R"({"properties":{"action":{"request":{"authentication":
      {"type":"ActiveDirectoryOAuth","tenant":"t","audience":"a","clientId":"c",
       "secret":"s"}}}}})");
  EXPECT_TRUE(std::holds_alternative<ActiveDirectoryOAuth>(*http(other).authentication));
}

TEST(HistoryJson, NewerRowsHaveSmallerNames) {
  HistoryEntry older;
  older.occurrence.seq = 1;
  older.started = *parse_instant("2030-01-07T04:00:01.25Z");
  HistoryEntry newer = older;
  newer.started += kOneTick;
  const auto name = [](const HistoryEntry& entry) {
    return std::string(shown_row({{"s", "g", "c"}, "j"}, entry).at("name").as_string());
  };
  EXPECT_LT(name(newer), name(older));
  EXPECT_EQ(name(older).substr(0, 25), "c/j/02515083119987499999:");
  HistoryEntry retried = older;
  retried.retry = 1;
  EXPECT_NE(name(retried), name(older));
}

TEST(HistoryJson, TheStatusOfASuccessIsLeftOutUnlessWanted) {
  const HistoryEntry entry;
  const JobKey key;
  const auto properties = [&](SuccessStatus success) {
    return shown_row(key, entry, success).at("properties").as_object();
  };
  EXPECT_FALSE(properties(SuccessStatus::omitted).contains("status"));
  EXPECT_EQ(properties(SuccessStatus::written)["status"], "completed");
}

std::string queue_job(const std::string& member) {
  return R"({"properties":{"action":{"type":"StorageQueue","queueMessage":{"storageAccount":"a",
      "queueName":"q",)" +
         member + "}}}}";
}

// What the service would refuse at every attempt is refused once, when it comes in.
TEST(JobJson, RefusesQueueMessagesThatCouldNeverBePut) {
  const std::string message = "properties.action.queueMessage.message";
  const std::string token = "properties.action.queueMessage.sasToken";
  const auto with = [](const std::string& text) {
    return refused(queue_job(R"("sasToken":"?a=b%2B&c","message":")" + text + "\""));
  };
  EXPECT_EQ(with("<&>\\r\\n\\t\xC3\xA4"), std::vector<std::string>{});
  EXPECT_EQ(with("\\u0001"), std::vector{message});
  // 5 bytes for each '&', 1,024 for the envelope, 4 characters for 3 bytes.
  EXPECT_EQ(with(std::string(9'625, '&')), std::vector<std::string>{});
  EXPECT_EQ(with(std::string(9'626, '&')), std::vector{message});
  for (const char* bad : {"a b", "a#b", "a\\nb", "\xC3\xA4"}) {
    const std::string member = std::string(R"("sasToken":")") + bad + "\"";
    EXPECT_EQ(refused(queue_job(member)), std::vector{token}) << bad;
  }
}

TEST(JobJson, RefusesBrokeredPropertiesThatWouldBeCutOff) {
  EXPECT_EQ(refused(R"({"properties":{"action":{"type":"ServiceBusQueue","serviceBusQueueMessage":{
        "namespace":"n","queueName":"q","authentication":{"sasKeyName":"k"},
        "brokeredMessageProperties":{"label":"a\u0000b","contentType":"a\nb","to":"\u0001"}}}}})"),
            (std::vector<std::string>{
                "properties.action.serviceBusQueueMessage.brokeredMessageProperties.label",
                "properties.action.serviceBusQueueMessage.brokeredMessageProperties.contentType"}));
}

TEST(JobJson, RefusesCustomPropertiesThatCannotBeHeadersUnlessTheyGoOverAmqp) {
  const auto with = [](const std::string& transport, const std::string& name) {
    return refused(R"({"properties":{"action":{"type":"ServiceBusQueue","serviceBusQueueMessage":{
        "namespace":"n","queueName":"q","authentication":{"sasKeyName":"k"},"transportType":")" +
                   transport + R"(","customMessageProperties":{")" + name + R"(":1}}}}})");
  };
  const std::string path = "properties.action.serviceBusQueueMessage.customMessageProperties.";
  for (const char* name :
       {"with blank", "Content-type", "AUTHORIZATION", "Host", "BrokerProperties", "\xC3\xA4"}) {
    EXPECT_EQ(with("netMessaging", name), std::vector{path + name});
    EXPECT_EQ(with("amqp", name), std::vector<std::string>{});
  }
  EXPECT_EQ(with("netMessaging", "x-mine"), std::vector<std::string>{});
}

}  // namespace
}  // namespace belfry
