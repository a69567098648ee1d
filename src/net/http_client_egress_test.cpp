// SPDX-License-Identifier: MIT
//
// Resolve, check, dial: a forbidden address is never connected to, however it is named.

#include <gtest/gtest.h>

#include <atomic>

#include "net/http_client.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"

namespace belfry {
namespace {

IpAddress address(const char* text) {
  return *IpAddress::parse(text);
}

HttpClient::Options guarded(std::vector<IpRange> allowed, Resolve resolve) {
  HttpClient::Options options;
  options.tls = system_tls();
  options.guard = EgressGuard({.allow_loopback = false, .allowed = std::move(allowed)});
  options.resolve = std::move(resolve);
  return options;
}

void answer_and_close(Conversation& conversation) {
  conversation.request();
  conversation.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpClientEgress, NeverConnectsToAForbiddenLiteral) {
  const ScriptedTarget target(answer_and_close);
  const auto client = start_client(guarded({}, {}));
  const HttpFailure failure = failure_of(ask(*client, call_to(target.port())));
  EXPECT_EQ(failure.kind, HttpFailureKind::forbidden_address);
  EXPECT_EQ(failure.detail, "127.0.0.1 is loopback");
  EXPECT_EQ(target.connections(), 0u);
}

TEST(HttpClientEgress, NeverLooksUpADisguisedAddress) {
  const ScriptedTarget target(answer_and_close);
  std::atomic<int> lookups = 0;
  const auto client = start_client(guarded({}, [&](const std::string&, const ResolveDone& done) {
    ++lookups;
    done({{address("127.0.0.1")}, {}});
  }));
  for (const char* host : {"127.1", "0x7f.1", "2130706433", "017700000001", "0177.0.0.1",
                           "127.0.0.1.", "0x7f000001", "0", "127.0.0.01"}) {
    EXPECT_EQ(failure_of(ask(*client, call_to(host, target.port()))).kind,
              HttpFailureKind::name_resolution)
        << host;
  }
  for (const char* host : {"::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::", "0.0.0.0",
                           "64:ff9b::7f00:1", "::7f00:1"}) {
    EXPECT_EQ(failure_of(ask(*client, call_to(host, target.port()))).kind,
              HttpFailureKind::forbidden_address)
        << host;
  }
  EXPECT_EQ(lookups, 0);
  EXPECT_EQ(target.connections(), 0u);
}

TEST(HttpClientEgress, ChecksEveryAddressOfAName) {
  const ScriptedTarget target(answer_and_close);
  const auto client = start_client(guarded({}, [](const std::string&, const ResolveDone& done) {
    done({{address("127.0.0.1"), address("::1"), address("169.254.169.254")}, {}});
  }));
  EXPECT_EQ(failure_of(ask(*client, call_to("evil.test", target.port()))).kind,
            HttpFailureKind::forbidden_address);
  EXPECT_EQ(target.connections(), 0u);
}

// 127.0.0.1 plays the public address here, 127.0.0.2 the forbidden one. The first answer is
// checked and dialled; a second one, were it asked for, would lead to the forbidden address.
TEST(HttpClientEgress, DialsTheAddressThatWasChecked) {
  const ScriptedTarget open(answer_and_close);
  const ScriptedTarget forbidden(answer_and_close, {.address = "127.0.0.2", .port = open.port()});
  std::atomic<int> lookups = 0;
  const auto client = start_client(
      guarded({*IpRange::parse("127.0.0.1")}, [&](const std::string&, const ResolveDone& done) {
        done({{address(lookups++ == 0 ? "127.0.0.1" : "127.0.0.2")}, {}});
      }));
  EXPECT_EQ(reply_of(ask(*client, call_to("rebinding.test", open.port()))).status, 200);
  EXPECT_EQ(lookups, 1);
  EXPECT_EQ(failure_of(ask(*client, call_to("rebinding.test", open.port()))).kind,
            HttpFailureKind::forbidden_address);
  EXPECT_EQ(open.connections(), 1u);
  EXPECT_EQ(forbidden.connections(), 0u);
}

TEST(HttpClientEgress, PassesOverForbiddenAddressesOfAName) {
  const ScriptedTarget open(answer_and_close);
  const ScriptedTarget forbidden(answer_and_close, {.address = "127.0.0.2", .port = open.port()});
  const auto client = start_client(
      guarded({*IpRange::parse("127.0.0.1")}, [](const std::string&, const ResolveDone& done) {
        done({{address("127.0.0.2"), address("127.0.0.1")}, {}});
      }));
  EXPECT_EQ(reply_of(ask(*client, call_to("mixed.test", open.port()))).status, 200);
  EXPECT_EQ(forbidden.connections(), 0u);
}

TEST(HttpClientEgress, TriesTheNextAddressWhenOneDoesNotAnswer) {
  const ScriptedTarget target(answer_and_close);
  HttpClient::Options options = local_options();
  options.resolve = [](const std::string&, const ResolveDone& done) {
    done({{address("127.0.0.3"), address("::1"), address("127.0.0.1")}, {}});
  };
  const auto client = start_client(std::move(options));
  EXPECT_EQ(reply_of(ask(*client, call_to("several.test", target.port()))).status, 200);
}

TEST(HttpClientEgress, ReportsANameThatIsNotKnown) {
  const auto client = start_client(guarded({}, [](const std::string&, const ResolveDone& done) {
    done({{}, "Domain name not found"});
  }));
  const HttpFailure failure = failure_of(ask(*client, call_to("unknown.test", 80)));
  EXPECT_EQ(failure.kind, HttpFailureKind::name_resolution);
  EXPECT_EQ(failure.detail, "Domain name not found");
}

// The name server of one name hangs: calls to other names go on.
TEST(HttpClientEgress, LetsASlowNameDelayNoOther) {
  const ScriptedTarget target(answer_and_close);
  HttpClient::Options options = local_options();
  options.limits.resolve_timeout = Millis{200};
  options.resolve = [](const std::string& host, const ResolveDone& done) {
    if (host != "slow.test") done({{address("127.0.0.1")}, {}});
  };
  const auto client = start_client(std::move(options));
  auto slow = begin(*client, call_to("slow.test", target.port()));
  EXPECT_EQ(reply_of(ask(*client, call_to("quick.test", target.port()))).status, 200);
  const HttpFailure failure = failure_of(await(std::move(slow)));
  EXPECT_EQ(failure.kind, HttpFailureKind::name_resolution);
  EXPECT_EQ(failure.detail, "no name server answered within 0.2 s");
}

}  // namespace
}  // namespace belfry
