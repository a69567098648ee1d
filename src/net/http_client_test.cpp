// SPDX-License-Identifier: MIT

#include "net/http_client.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <latch>

#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"

namespace belfry {
namespace {

// Answers every request with itself.
void echo(Conversation& conversation) {
  while (true) {
    const std::string request = conversation.request();
    if (request.empty()) return;
    conversation.answer(request);
  }
}

void hang(Conversation& conversation) {
  conversation.hang();
}

// Reads one request and answers with these bytes, then closes.
ScriptedTarget::Script answer_once(std::string bytes) {
  return [bytes = std::move(bytes)](Conversation& conversation) {
    conversation.request();
    conversation.send(bytes);
  };
}

TEST(HttpClient, SendsWhatWasAskedFor) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.method = "POST";
  call.target = "/a?b=c";
  call.headers = {{"X-One", "1"}};
  call.body = "hello";
  const HttpReply reply = reply_of(ask(*client, call));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1\r\nX-One: 1\r\n"
            "Content-Length: 5\r\n\r\nhello");
}

TEST(HttpClient, HoldsACallBackAsLongAsItIsTo) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.timeout = kPatience;
  std::latch all(3);
  for (const int hold : {60, 30, 0}) {
    call.hold = Millis{hold};
    client->send(call, [&, hold](const HttpResult& result) {
      EXPECT_GE(result.waited, Millis{hold});
      all.count_down();
    });
  }
  all.wait();
}

// Its time begins when it may go.
TEST(HttpClient, IsNotTimedOutWhileItIsHeldBack) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.hold = Millis{50};
  call.timeout = Millis{1};
  // Whether a millisecond is enough is not the question.
  const HttpResult result = ask(*client, call);
  EXPECT_GE(result.waited, call.hold);
}

TEST(HttpClient, SaysThatAPostWithoutBodyHasNone) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.method = "POST";
  EXPECT_NE(reply_of(ask(*client, call)).body.find("Content-Length: 0\r\n"), std::string::npos);
}

TEST(HttpClient, KeepsAConnectionForTheNextCall) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).status, 200);
  EXPECT_EQ(target.connections(), 1u);
}

TEST(HttpClient, ReadsAnAnswerThatComesByteByByte) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.send_bytewise("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n");
    conversation.send_bytewise("Content-Length: 5\r\n\r\nhello");
  });
  const auto client = start_client(local_options());
  const HttpReply reply = reply_of(ask(*client, call_to(target.port())));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.body, "hello");
}

// It may have closed it just when we used it; the target has not seen the call.
TEST(HttpClient, SendsAgainWhenAKeptConnectionWasClosed) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.answer(std::to_string(conversation.number));
    if (conversation.number > 0) return;
    conversation.request();  // it was kept: the second call arrives here and gets no answer
  });
  const auto client = start_client(local_options());
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).body, "0");
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).body, "1");
  EXPECT_EQ(target.connections(), 2u);
}

TEST(HttpClient, SendsAgainOnlyWhenNothingOfAnAnswerCame) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.answer();
    conversation.request();
    conversation.send("HTTP/1.1 20");
  });
  const auto client = start_client(local_options());
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).status, 200);
  EXPECT_EQ(failure_of(ask(*client, call_to(target.port()))).kind, HttpFailureKind::closed);
  EXPECT_EQ(target.connections(), 1u);
}

TEST(HttpClient, DoesNotSendAgainOnANewConnection) {
  const ScriptedTarget target([](Conversation& conversation) { conversation.request(); });
  const auto client = start_client(local_options());
  EXPECT_EQ(failure_of(ask(*client, call_to(target.port()))).kind, HttpFailureKind::closed);
  EXPECT_EQ(target.connections(), 1u);
}

TEST(HttpClient, ReportsAReset) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.reset();
  });
  const auto client = start_client(local_options());
  const HttpFailure failure = failure_of(ask(*client, call_to(target.port())));
  EXPECT_EQ(failure.kind, HttpFailureKind::closed);
  EXPECT_EQ(failure.detail, "Connection reset by peer");
}

TEST(HttpClient, ReportsWhatIsNotHttp) {
  const ScriptedTarget target(answer_once("220 mail.example ESMTP\r\n\r\n"));
  const auto client = start_client(local_options());
  EXPECT_EQ(failure_of(ask(*client, call_to(target.port()))).kind, HttpFailureKind::protocol);
}

TEST(HttpClient, ReportsAnAnswerShorterThanItsLength) {
  const ScriptedTarget target(answer_once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi"));
  const auto client = start_client(local_options());
  EXPECT_EQ(failure_of(ask(*client, call_to(target.port()))).kind, HttpFailureKind::closed);
}

// The status has come, so the call succeeded; nobody reads to the end of an endless body.
TEST(HttpClient, StopsReadingAnEndlessBody) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.send("HTTP/1.1 200 OK\r\n\r\n");
    while (conversation.send(std::string(64 * 1024, 'x'))) {
    }
  });
  const auto client = start_client(local_options());
  const HttpReply reply = reply_of(ask(*client, call_to(target.port())));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.size(), 2048u);
  EXPECT_TRUE(reply.body_cut);
}

TEST(HttpClient, ReportsAnEndlessHead) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.send("HTTP/1.1 200 OK\r\n");
    while (conversation.send("X: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  const auto client = start_client(local_options());
  EXPECT_EQ(failure_of(ask(*client, call_to(target.port()))).kind, HttpFailureKind::too_large);
}

TEST(HttpClient, DoesNotFollowRedirects) {
  const ScriptedTarget target(answer_once(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"));
  const auto client = start_client(local_options());
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).status, 302);
}

TEST(HttpClient, GivesUpOnATargetThatHangs) {
  const ScriptedTarget target(hang);
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.timeout = Millis{50};
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::timeout);
}

// A byte now and then must not keep a call alive for ever.
TEST(HttpClient, GivesUpOnATargetThatTrickles) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    conversation.send("HTTP/1.1 200 OK\r\nX: ");
    conversation.hang();
  });
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.timeout = Millis{50};
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::timeout);
}

TEST(HttpClient, ReportsARefusedConnection) {
  std::uint16_t port = 0;
  {
    const ScriptedTarget gone(hang);
    port = gone.port();
  }
  const auto client = start_client(local_options());
  const HttpFailure failure = failure_of(ask(*client, call_to(port)));
  EXPECT_EQ(failure.kind, HttpFailureKind::connect);
  EXPECT_EQ(failure.detail, "127.0.0.1: Connection refused");
}

// A body larger than what the kernel takes at once, answered before it was read.
TEST(HttpClient, TakesAnAnswerThatComesBeforeTheBodyIsSent) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.answer("too much", "HTTP/1.1 413 Content Too Large");
    conversation.hang();
  });
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.method = "POST";
  call.body = std::string(8 * 1024 * 1024, 'x');
  EXPECT_EQ(reply_of(ask(*client, call)).status, 413);
}

TEST(HttpClient, SendsALargeBodyWhole) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.answer(std::to_string(conversation.request().size()));
  });
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.method = "PUT";
  call.body = std::string(8 * 1024 * 1024, 'x');
  EXPECT_GT(std::stoul(reply_of(ask(*client, call)).body), call.body.size());
}

TEST(HttpClient, SendsNothingThatCouldEndAHeaderEarly) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  for (const auto& [name, value] : HttpHeaders{{"X", "a\r\nY: b"},
                                               {"X\r\nY", "a"},
                                               {"X", std::string("a\0b", 3)},
                                               {"Host", "other"},
                                               {"content-length", "3"},
                                               {"Transfer-Encoding", "chunked"},
                                               {"", "a"}}) {
    HttpCall call = call_to(target.port());
    call.headers = {{name, value}};
    EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::invalid_call) << name;
  }
  HttpCall call = call_to(target.port());
  call.target = "/ HTTP/1.1\r\nX: y";
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::invalid_call);
  EXPECT_EQ(target.connections(), 0u);
}

TEST(HttpClient, ClosesWhatNobodyUses) {
  std::promise<void> closed;
  const ScriptedTarget target([&](Conversation& conversation) {
    conversation.request();
    conversation.answer();
    conversation.hang();
    closed.set_value();
  });
  HttpClientLimits limits;
  limits.idle_timeout = Millis{10};
  const auto client = start_client(local_options(limits));
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).status, 200);
  EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
}

// Two calls at a time need two connections, of which one is there for the next two.
TEST(HttpClient, KeepsNoMoreConnectionsThanAllowed) {
  std::barrier both_asked(2);
  const ScriptedTarget target([&](Conversation& conversation) {
    while (!conversation.request().empty()) {
      both_asked.arrive_and_wait();
      conversation.answer();
    }
  });
  HttpClientLimits limits;
  limits.idle_max = 1;
  const auto client = start_client(local_options(limits));
  for (int round = 0; round < 3; ++round) {
    auto one = begin(*client, call_to(target.port()));
    auto other = begin(*client, call_to(target.port()));
    EXPECT_EQ(reply_of(await(std::move(one))).status, 200);
    EXPECT_EQ(reply_of(await(std::move(other))).status, 200);
  }
  EXPECT_EQ(target.connections(), 2u + 1u + 1u);
}

TEST(HttpClient, UsesNoMoreConnectionsThanAllowed) {
  const ScriptedTarget target(echo);
  HttpClientLimits limits;
  limits.connections_per_origin_max = 2;
  const auto client = start_client(local_options(limits));
  std::vector<std::future<HttpResult>> results;
  for (int i = 0; i < 50; ++i) results.push_back(begin(*client, call_to(target.port())));
  for (auto& result : results) EXPECT_EQ(reply_of(await(std::move(result))).status, 200);
  EXPECT_LE(target.connections(), 2u);
}

TEST(HttpClient, RefusesWhatWouldWaitTooLong) {
  const ScriptedTarget target(hang);
  HttpClientLimits limits;
  limits.connections_per_origin_max = 2;
  limits.waiting_per_owner_and_origin_max = 3;
  const auto client = start_client(local_options(limits));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(client->send(call_to(target.port()), [](auto) {}));
  EXPECT_FALSE(client->send(call_to(target.port()), [](auto) {}));
}

TEST(HttpClient, RefusesMoreConnectionsInAllThanAllowed) {
  const ScriptedTarget one(hang);
  const ScriptedTarget other(hang);
  HttpClientLimits limits;
  limits.connections_max = 1;
  limits.connections_per_origin_max = 1;
  const auto client = start_client(local_options(limits));
  EXPECT_TRUE(client->send(call_to(one.port()), [](auto) {}));
  EXPECT_FALSE(client->send(call_to(other.port()), [](auto) {}));
  EXPECT_TRUE(client->send(call_to(one.port()), [](auto) {})) << "it waits for the connection";
}

TEST(HttpClient, ReportsWhatWaitedInVain) {
  const ScriptedTarget target(hang);
  HttpClientLimits limits;
  limits.connections_per_origin_max = 1;
  const auto client = start_client(local_options(limits));
  auto first = begin(*client, call_to(target.port()));
  HttpCall call = call_to(target.port());
  call.timeout = Millis{30};
  const HttpResult second = ask(*client, call);
  EXPECT_EQ(failure_of(second).kind, HttpFailureKind::timeout);
  EXPECT_GE(second.waited, Ticks(call.timeout));
}

// When a call that hung is given up, the one behind it gets its turn.
TEST(HttpClient, GoesOnAfterACallThatHung) {
  const ScriptedTarget target([](Conversation& conversation) {
    conversation.request();
    if (conversation.number == 0) return conversation.hang();
    conversation.answer("second");
  });
  HttpClientLimits limits;
  limits.connections_per_origin_max = 1;
  const auto client = start_client(local_options(limits));
  HttpCall hanging = call_to(target.port());
  hanging.timeout = Millis{50};
  auto first = begin(*client, hanging);
  auto second = begin(*client, call_to(target.port()));
  EXPECT_EQ(failure_of(await(std::move(first))).kind, HttpFailureKind::timeout);
  EXPECT_EQ(reply_of(await(std::move(second))).body, "second");
}

// While it lives this process can open no file.
class NoFileDescriptors {
 public:
  NoFileDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDERR_FILENO);
    ::close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoFileDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// That is our own trouble, and must not count as a failure of the target.
TEST(HttpClient, WaitsWhileThisMachineHasNoFileDescriptors) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  std::future<HttpResult> patient;
  {
    const NoFileDescriptors starved;
    patient = begin(*client, call_to(target.port()));
    HttpCall impatient = call_to(target.port());
    impatient.timeout = Millis{250};
    const HttpFailure failure = failure_of(ask(*client, impatient));
    EXPECT_EQ(failure.kind, HttpFailureKind::timeout);
    EXPECT_EQ(failure.detail, "this server may open no more files: see ulimit -n");
  }
  EXPECT_EQ(reply_of(await(std::move(patient))).status, 200);
}

// One thread, one origin full to the brim: another origin does not notice.
TEST(HttpClient, LetsAHangingOriginDelayNoOther) {
  const ScriptedTarget hanging(hang);
  const ScriptedTarget lively(echo);
  const auto client = start_client(local_options());
  while (client->send(call_to(hanging.port()), [](auto) {})) {
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(reply_of(ask(*client, call_to(lively.port()))).status, 200);
}

TEST(HttpClient, SendsFromItsOwnCallback) {
  const ScriptedTarget target(echo);
  const auto client = start_client(local_options());
  std::promise<HttpResult> second;
  client->send(call_to(target.port()), [&](const HttpResult&) {
    client->send(call_to(target.port()),
                 [&](HttpResult result) { second.set_value(std::move(result)); });
  });
  EXPECT_EQ(reply_of(await(second.get_future())).status, 200);
}

TEST(HttpClient, DrainsWhatIsUnderWay) {
  std::promise<void> go;
  std::promise<void> arrived;
  const ScriptedTarget target([&](Conversation& conversation) {
    conversation.request();
    arrived.set_value();
    go.get_future().wait();
    conversation.answer();
  });
  const auto client = start_client(local_options());
  auto result = begin(*client, call_to(target.port()));
  arrived.get_future().wait();
  EXPECT_FALSE(client->drain(Millis{0}));
  EXPECT_FALSE(client->send(call_to(target.port()), [](auto) {})) << "it takes no more";
  go.set_value();
  EXPECT_TRUE(client->drain(kPatience));
  EXPECT_EQ(reply_of(await(std::move(result))).status, 200);
}

TEST(HttpClient, DropsWhatIsUnderWayWhenItEnds) {
  const ScriptedTarget target(hang);
  auto client = start_client(local_options());
  std::atomic<int> told = 0;
  for (int i = 0; i < 100; ++i) client->send(call_to(target.port()), [&](auto) { ++told; });
  client.reset();
  EXPECT_EQ(told, 0);
}

// Two threads of the client, four of callers, several origins: for ThreadSanitizer.
TEST(HttpClient, ServesManyCallersAtOnce) {
  constexpr int kCallers = 4;
  constexpr int kCalls = 200;
  const ScriptedTarget one(echo), two(echo), three(echo);
  HttpClient::Options options = local_options();
  options.threads = 2;
  options.limits.connections_per_origin_max = 4;
  options.limits.waiting_per_owner_and_origin_max = kCallers * kCalls;
  options.limits.waiting_per_tenant_and_origin_max = kCallers * kCalls;
  const auto client = start_client(std::move(options));
  std::latch answered(kCallers * kCalls);
  std::atomic<int> successes = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        const ScriptedTarget* targets[] = {&one, &two, &three};
        const bool taken =
            client->send(call_to(targets[i % 3]->port()), [&](const HttpResult& result) {
              successes += std::holds_alternative<HttpReply>(result.what) ? 1 : 0;
              answered.count_down();
            });
        if (!taken) answered.count_down();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  answered.wait();
  EXPECT_EQ(successes, kCallers * kCalls);
}

}  // namespace
}  // namespace belfry
