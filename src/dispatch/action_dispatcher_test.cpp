// SPDX-License-Identifier: MIT

#include "dispatch/action_dispatcher.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "model/history.h"
#include "net/amqp_test_broker.h"
#include "net/http_client_exchange.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"
#include "net/pfx.h"
#include "net/pfx_samples.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2016} / 1 / 29}};
const Instant kAtOnce = kNow;
constexpr Millis kLater{200};  // longer than a call that is not held back takes

// What was reported, for a test that waits for it.
class Reports {
 public:
  ActionDispatcher::Report receiver() {
    return [this](const Attempt& attempt, Outcome outcome) {
      const std::lock_guard lock(mutex_);
      reports_.emplace_back(attempt, std::move(outcome));
      came_.notify_all();
    };
  }

  std::pair<Attempt, Outcome> take() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, kPatience, [this] { return !reports_.empty(); })) {
      ADD_FAILURE() << "nothing was reported";
      return {};
    }
    auto first = std::move(reports_.front());
    reports_.erase(reports_.begin());
    return first;
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return reports_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::pair<Attempt, Outcome>> reports_;
};

// One call of an owner is under way and one waits.
HttpClientLimits room_for_two() {
  HttpClientLimits limits;
  limits.connections_per_origin_max = 1;
  limits.waiting_per_owner_and_origin_max = 1;
  return limits;
}

class ActionDispatcherTest : public testing::Test {
 protected:
  std::unique_ptr<ActionDispatcher> start(const HttpClientLimits& limits = {}) {
    ActionDispatcher::Options options;
    options.identity = {"Belfry/1.2.3", "here"};
    options.timeout = timeout_;
    options.http = local_options(limits);
    options.amqp = amqp_limits_;
    options.storage_queue.endpoint = endpoint_;
    options.service_bus.amqp_endpoint = endpoint_;
    options.oauth.endpoint = endpoint_;
    options.report = reports_.receiver();
    auto started = ActionDispatcher::start(std::move(options), clock_);
    EXPECT_TRUE(started.has_value());
    return *std::move(started);
  }

  // By way of endpoint_.
  static Job job_for_broker() {
    ServiceBusQueueAction action;
    action.queue_name = "q";
    action.message.service_namespace = "namespace";
    action.message.transport = Transport::amqp;
    action.message.sas_key_name = "name";
    action.message.sas_key = Secret("key");
    Job job = job_calling(1);
    job.definition.edit().action.what = action;
    return job;
  }

  static Job job_calling(std::uint16_t port) {
    HttpAction action;
    action.uri = "http://127.0.0.1:" + std::to_string(port) + "/ring";
    action.method = "POST";
    action.body = "ding";
    Job job;
    job.id = JobId{42};
    job.key = JobKey{{"sub", "group", "collection"}, "job"};
    job.definition.edit().action.what = action;
    return job;
  }

  // With a token of the issuer at `endpoint_`.
  static Job job_calling_with_token(std::uint16_t port) {
    Job job = job_calling(port);
    std::get<HttpAction>(job.definition.edit().action.what).authentication =
        ActiveDirectoryOAuth{"tenant", "audience", "client", Secret("secret")};
    return job;
  }

  static Job job_showing(const std::string& pfx) {
    Job job = job_calling(1);
    std::get<HttpAction>(job.definition.edit().action.what).authentication =
        ClientCertificate{Secret(pfx), Secret(kPfxPassword), {}, {}, {}};
    return job;
  }

  static void issue_tokens(Conversation& conversation) {
    while (!conversation.request().empty()) {
      conversation.answer(R"({"access_token":"eyJhbGciOi","expires_in":3600})");
    }
  }

  static std::string issuer_at(std::uint16_t port) {
    return "http://127.0.0.1:" + std::to_string(port) + "/{tenant}";
  }

  // Sends what `job_for` makes of the target's port, to be called so much later.
  void expect_held_back(Job (*job_for)(std::uint16_t port), Millis later) {
    std::promise<SteadyTime> received;
    const ScriptedTarget target([&](Conversation& conversation) {
      received.set_value(SteadyClock::now());
      conversation.request();
      conversation.answer("dong");
    });
    const auto dispatcher = start();
    const SteadyTime before = SteadyClock::now();
    EXPECT_TRUE(dispatcher->send(attempt_, job_for(target.port()), kNow + later));
    EXPECT_GE(received.get_future().get(), before + later);
    EXPECT_TRUE(reports_.take().second.succeeded);
  }

  Attempt attempt_{JobId{42}, {kNow, 3}, ActionRole::main, 1};
  VirtualClock clock_{kNow};
  Millis timeout_{20'000};
  std::string endpoint_;
  AmqpLimits amqp_limits_;
  Reports reports_;
};

TEST_F(ActionDispatcherTest, CallsNotBeforeItIsTold) {
  expect_held_back(job_calling, Millis{30});
}

// The token is asked for ahead of time, and there before the call may go.
TEST_F(ActionDispatcherTest, CallsNotBeforeItIsToldThoughTheTokenIsThere) {
  const ScriptedTarget issuer(issue_tokens);
  endpoint_ = issuer_at(issuer.port());
  expect_held_back(job_calling_with_token, kLater);
}

TEST_F(ActionDispatcherTest, SendsToABrokerNotBeforeItIsTold) {
  const AmqpTestBroker broker({});
  endpoint_ = "amqp://127.0.0.1:" + std::to_string(broker.port());
  const auto dispatcher = start();
  const SteadyTime before = SteadyClock::now();
  EXPECT_TRUE(dispatcher->send(attempt_, job_for_broker(), kNow + kLater));
  const Outcome outcome = reports_.take().second;
  EXPECT_GE(SteadyClock::now(), before + kLater);
  EXPECT_TRUE(outcome.succeeded) << outcome.message;
}

TEST_F(ActionDispatcherTest, CallsAndReportsWhatCameOfIt) {
  std::promise<std::string> received;
  const ScriptedTarget target([&](Conversation& conversation) {
    received.set_value(conversation.request());
    conversation.answer("dong", "HTTP/1.1 202 Accepted");
  });
  const auto dispatcher = start();
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  const auto [attempt, outcome] = reports_.take();
  EXPECT_EQ(attempt, attempt_);
  EXPECT_TRUE(outcome.succeeded);
  EXPECT_EQ(outcome.message,
            "Http Action - Response from host '127.0.0.1': 'Accepted' Response Headers: "
            "Content-Length: 4\r\n Body: dong");
  EXPECT_EQ(outcome.started, kNow);
  EXPECT_EQ(outcome.ended, kNow);
  const std::string request = received.get_future().get();
  EXPECT_TRUE(request.starts_with("POST /ring HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
  EXPECT_NE(request.find("\r\nx-ms-scheduler-jobid: job\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nIdempotency-Key: " + idempotency_key(attempt_) + "\r\n"),
            std::string::npos)
      << request;
  EXPECT_TRUE(request.ends_with("\r\nContent-Length: 4\r\n\r\nding")) << request;
}

TEST_F(ActionDispatcherTest, TakesEveryStatusButTwoHundredsForAFailure) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.answer("", "HTTP/1.1 503 Service Unavailable");
    conversation.request();
    conversation.answer("", "HTTP/1.1 302 Found");
  });
  const auto dispatcher = start();
  for (const char* name : {"'ServiceUnavailable'", "'Found'"}) {
    EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
    const Outcome outcome = reports_.take().second;
    EXPECT_FALSE(outcome.succeeded);
    EXPECT_NE(outcome.message.find(name), std::string::npos) << outcome.message;
  }
}

// Whoever sends, the engine, has no time for it; somebody else opens it.
TEST_F(ActionDispatcherTest, ACertificateThatWasNeverOpenedWaits) {
  const auto dispatcher = start();
  EXPECT_FALSE(dispatcher->send(attempt_, job_showing(kModernPfx), kAtOnce));
  EXPECT_EQ(reports_.size(), 0U);
}

TEST_F(ActionDispatcherTest, ACertificateThatDidNotOpenFailsTheAttemptAndSaysWhy) {
  const auto dispatcher = start();
  const std::string kept = kept_refusal(Pfx::open(kOldKeytoolPfx, kPfxPassword).error());
  EXPECT_TRUE(dispatcher->send(attempt_, job_showing(kept), kAtOnce));
  EXPECT_EQ(reports_.take().second.message,
            "Http Action - The client certificate (pfx) takes more than 50000 iterations to open, "
            "all in all: export it anew, as `openssl pkcs12 -export` does.");
}

TEST_F(ActionDispatcherTest, PerformsTheErrorActionInItsRole) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.answer();
  });
  const auto dispatcher = start();
  Job job = job_calling(1);
  job.definition.edit().error_action = job_calling(target.port()).definition->action;
  attempt_.role = ActionRole::error;
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_TRUE(reports_.take().second.succeeded);
}

TEST_F(ActionDispatcherTest, ReportsATimeout) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  timeout_ = Millis{50};
  const auto dispatcher = start();
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  EXPECT_EQ(reports_.take().second.message,
            "Http Action - Request to host '127.0.0.1' failed: Timeout "
            "The operation has timed out");
}

// The server's own time-out is longer than this test waits.
TEST_F(ActionDispatcherTest, KeepsToTheTimeoutOfTheActionInItsRole) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  timeout_ = 10 * kPatience;
  const auto dispatcher = start();
  Job job = job_calling(target.port());
  job.definition.edit().error_action = job.definition->action;
  job.definition.edit().action.timeout = Millis{50};
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_NE(reports_.take().second.message.find("failed: Timeout"), std::string::npos);
  std::swap(job.definition.edit().action.timeout, job.definition.edit().error_action->timeout);
  attempt_.role = ActionRole::error;
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_NE(reports_.take().second.message.find("failed: Timeout"), std::string::npos);
}

TEST_F(ActionDispatcherTest, GivesATargetLongerThanTheServersTimeoutWhereTheActionSaysSo) {
  std::promise<void> timed_out;
  const ScriptedTarget patient([&](Conversation& conversation) {
    conversation.request();
    timed_out.get_future().wait();
    conversation.answer();
  });
  const ScriptedTarget hanging([](Conversation& conversation) { conversation.hang(); });
  timeout_ = Millis{50};
  const auto dispatcher = start();
  Job job = job_calling(patient.port());
  job.definition.edit().action.timeout = kPatience;
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(hanging.port()), kAtOnce));
  EXPECT_FALSE(reports_.take().second.succeeded) << "the later call, with the server's, is over";
  timed_out.set_value();
  EXPECT_TRUE(reports_.take().second.succeeded);
}

// Nothing was sent, so the message must say what to do about it.
TEST_F(ActionDispatcherTest, ReportsWhatItCannotSendAsFailed) {
  const auto dispatcher = start();
  Job job = job_calling(1);
  ServiceBusQueueAction action;
  action.queue_name = "q";
  action.message.service_namespace = "contoso";
  action.message.sas_key_name = "sender";
  job.definition.edit().action.what = action;
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  const Outcome outcome = reports_.take().second;
  EXPECT_FALSE(outcome.succeeded);
  EXPECT_EQ(outcome.message,
            "ServiceBusQueue Action - There is no key to send with: the job has no sasKey, and "
            "the file that the setting service-bus-keys names has none for 'sender' of namespace "
            "'contoso'.");
}

TEST_F(ActionDispatcherTest, PutsMessagesOnStorageQueuesAndTellsNobodyTheSignature) {
  std::promise<std::string> received;
  const ScriptedTarget target([&](Conversation& conversation) {
    received.set_value(conversation.request());
    conversation.answer("you sent sig=s3cret%3D", "HTTP/1.1 403 Forbidden");
    conversation.request();
    conversation.answer("", "HTTP/1.1 201 Created");
  });
  endpoint_ = "http://127.0.0.1:" + std::to_string(target.port()) + "/{account}";
  const auto dispatcher = start();
  Job job = job_calling(1);
  job.definition.edit().action.what =
      StorageQueueAction{"account", "q", Secret("?sv=2&sig=s3cret%3D&se=9"), "ding"};
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  const Outcome refused = reports_.take().second;
  EXPECT_FALSE(refused.succeeded);
  EXPECT_EQ(refused.message,
            "StorageQueue Action - Response from host '127.0.0.1': 'Forbidden' Response Headers: "
            "Content-Length: 22\r\n Body: you sent sig=***");
  EXPECT_TRUE(received.get_future().get().starts_with(
      "POST /account/q/messages?sv=2&sig=s3cret%3D&se=9 HTTP/1.1\r\n"));
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_TRUE(reports_.take().second.succeeded);
}

// Where the answer is cut, too: the beginning of a secret would be kept.
TEST_F(ActionDispatcherTest, TellsNobodyTheSecretsThatATargetRepeats) {
  const std::string filler(kHistoryBodyBytesMax - 25, '.');
  const ScriptedTarget target([&](Conversation& conversation) {
    const std::string request = conversation.request();
    const std::size_t begin = request.find("Authorization: ");
    const std::string header = request.substr(begin, request.find("\r\n", begin) - begin);
    conversation.answer(filler + header, "HTTP/1.1 500 No\r\nX-Echo: " + header);
  });
  const auto dispatcher = start();
  Job job = job_calling(target.port());
  std::get<HttpAction>(job.definition.edit().action.what).authentication =
      BasicAuthentication{"user", Secret("open sesame")};
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  const std::string message = reports_.take().second.message;
  EXPECT_NE(message.find("X-Echo: Authorization: Basic ***\r\n"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(filler + "Authorization: Basic ***")) << message;
}

TEST_F(ActionDispatcherTest, TellsNobodyTheAccessTokenThatATargetRepeats) {
  const ScriptedTarget issuer(issue_tokens);
  const ScriptedTarget target([&](Conversation& conversation) {
    conversation.request();
    conversation.answer("eyJhbGciOi is not wanted", "HTTP/1.1 403 Forbidden");
  });
  endpoint_ = issuer_at(issuer.port());
  const auto dispatcher = start();
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling_with_token(target.port()), kAtOnce));
  const std::string message = reports_.take().second.message;
  EXPECT_TRUE(message.ends_with(" Body: *** is not wanted")) << message;
}

TEST_F(ActionDispatcherTest, RefusesWhenTheTargetIsSaturated) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  const auto dispatcher = start(room_for_two());
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  EXPECT_FALSE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
}

// A collection that has used up its part of a target leaves the target to the others.
TEST_F(ActionDispatcherTest, RefusesOneCollectionAndTakesAnother) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  const auto dispatcher = start(room_for_two());
  Job job = job_calling(target.port());
  while (dispatcher->send(attempt_, job, kAtOnce)) {
  }
  job.key.edit().collection.name = "COLLECTION";
  EXPECT_FALSE(dispatcher->send(attempt_, job, kAtOnce)) << "the same in another spelling";
  job.key.edit().collection.name = "other";
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
}

TEST_F(ActionDispatcherTest, RefusesOneCollectionAtAQueueAndTakesAnother) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  endpoint_ = "http://127.0.0.1:" + std::to_string(target.port()) + "/{account}";
  const auto dispatcher = start(room_for_two());
  Job job = job_calling(target.port());
  job.definition.edit().action.what =
      StorageQueueAction{"account", "q", Secret("?sv=2&sig=s3cret%3D&se=9"), "ding"};
  while (dispatcher->send(attempt_, job, kAtOnce)) {
  }
  job.key.edit().collection.name = "other";
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
}

TEST_F(ActionDispatcherTest, RefusesOneCollectionAtABrokerAndTakesAnother) {
  const AmqpTestBroker broker({.does = AmqpTestBroker::Does::say_nothing});
  endpoint_ = "amqp://127.0.0.1:" + std::to_string(broker.port());
  amqp_limits_.calls_per_owner_and_broker_max = 2;
  const auto dispatcher = start();
  Job job = job_for_broker();
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  job.key.edit().collection.name = "COLLECTION";
  EXPECT_FALSE(dispatcher->send(attempt_, job, kAtOnce)) << "the same in another spelling";
  job.key.edit().collection.name = "other";
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
}

// There is room for a call before its token is asked for: nothing fails for want of room.
TEST_F(ActionDispatcherTest, RefusesOneCollectionWithATokenAndTakesAnother) {
  const ScriptedTarget issuer([](Conversation& conversation) { conversation.hang(); });
  endpoint_ = issuer_at(issuer.port());
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  const auto dispatcher = start(room_for_two());
  Job job = job_calling_with_token(target.port());
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_FALSE(dispatcher->send(attempt_, job, kAtOnce));
  job.key.edit().collection.name = "other";
  EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
  EXPECT_EQ(reports_.size(), 0u);
}

// The room that was taken for it is given back with the token's refusal.
TEST_F(ActionDispatcherTest, KeepsNoRoomForACallWhoseTokenIsRefused) {
  const ScriptedTarget issuer([](Conversation& conversation) {
    while (!conversation.request().empty()) conversation.answer("{}");
  });
  endpoint_ = issuer_at(issuer.port());
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  const auto dispatcher = start(room_for_two());
  const Job job = job_calling_with_token(target.port());
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(dispatcher->send(attempt_, job, kAtOnce));
    const std::string message = reports_.take().second.message;
    EXPECT_NE(message.find("no access_token"), std::string::npos) << message;
  }
}

// The engine sends what was started and never settled again after the restart.
TEST_F(ActionDispatcherTest, DropsWhatIsUnderWayWhenItStops) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.hang(); });
  const auto dispatcher = start();
  EXPECT_TRUE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  dispatcher->stop(Millis{0});
  EXPECT_FALSE(dispatcher->send(attempt_, job_calling(target.port()), kAtOnce));
  EXPECT_EQ(reports_.size(), 0u);
}

}  // namespace
}  // namespace belfry
