// SPDX-License-Identifier: MIT

#include "dispatch/http_request.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using namespace std::chrono_literals;

const HttpSenderIdentity kIdentity{"Belfry/1.2.3", "West Europe"};
const SendIds kIds{0x0123456789abcdef, 0xfedcba9876543210, 7};

Job a_job() {
  Job job;
  job.id = JobId{42};
  job.key = JobKey{{"sub", "group", "collection"}, "job"};
  return job;
}

Attempt an_attempt() {
  const Instant scheduled_for = std::chrono::sys_days{std::chrono::year{2016} / 1 / 29} + 9h;
  return {JobId{42}, {scheduled_for, 3}, ActionRole::main, 0};
}

HttpAction an_action() {
  HttpAction action;
  action.uri = "https://Example.com:8443/a?b=c#d";
  action.method = "post";
  action.body = "hello";
  return action;
}

HttpCall call_of(const HttpAction& action, const Attempt& attempt = an_attempt()) {
  auto call = http_call_of(action, attempt, a_job(), kIdentity, kIds);
  EXPECT_TRUE(call.has_value());
  return *std::move(call);
}

TEST(HttpRequest, GoesWhereTheActionSays) {
  const HttpCall call = call_of(an_action());
  EXPECT_EQ(call.origin, (HttpOrigin{true, "example.com", 8443}));
  EXPECT_EQ(call.authority, "example.com:8443");
  EXPECT_EQ(call.target, "/a?b=c");
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.body, "hello");
}

TEST(HttpRequest, TellsTheTargetWhichOccurrenceCalls) {
  const HttpHeaders expected = {
      {"Content-Type", "text/plain; charset=utf-8"},
      {"User-Agent", "Belfry/1.2.3"},
      {"x-ms-scheduler-jobid", "job"},
      {"x-ms-scheduler-jobcollectionid", "collection"},
      {"x-ms-scheduler-expected-execution-time", "2016-01-29T09:00:00"},
      {"x-ms-execution-tag", occurrence_tag(JobId{42}, 3)},
      {"x-ms-client-request-id", "01234567-89ab-4def-bedc-ba9876543210"},
      {"x-ms-region", "West Europe"},
      {"Idempotency-Key", idempotency_key(an_attempt())},
      {"traceparent", "00-" + occurrence_tag(JobId{42}, 3) + "-0000000000000007-01"},
  };
  EXPECT_EQ(call_of(an_action()).headers, expected);
}

TEST(HttpRequest, KeepsItsKeyOverRetriesAndChangesItForTheErrorAction) {
  Attempt retry = an_attempt();
  retry.retry = 2;
  Attempt error = an_attempt();
  error.role = ActionRole::error;
  const auto key = [](const Attempt& attempt) {
    return std::string(header_of(call_of(an_action(), attempt).headers, "Idempotency-Key"));
  };
  EXPECT_EQ(key(retry), key(an_attempt()));
  EXPECT_NE(key(error), key(an_attempt()));
}

TEST(HttpRequest, LetsTheUsersHeadersWin) {
  HttpAction action = an_action();
  action.headers = {{"user-agent", "mine"}, {"IDEMPOTENCY-KEY", ""}, {"Content-Type", "a/b"}};
  const HttpHeaders headers = call_of(action).headers;
  EXPECT_EQ(header_of(headers, "User-Agent"), "mine");
  EXPECT_EQ(header_of(headers, "Content-Type"), "a/b");
  int keys = 0;
  for (const auto& [name, value] : headers) keys += name == "Idempotency-Key" ? 1 : 0;
  EXPECT_EQ(keys, 0) << "also an empty one";
}

// Many frameworks answer 415 to a body of which they are not told what it is.
TEST(HttpRequest, SaysWhatTheBodyIsWhereTheUserDoesNot) {
  HttpAction action = an_action();
  const auto type = [&](std::optional<std::string> body) {
    action.body = std::move(body);
    return std::string(header_of(call_of(action).headers, "Content-Type"));
  };
  EXPECT_EQ(type(R"({"a":[1]})"), "application/json");
  EXPECT_EQ(type("{\"a\":"), "text/plain; charset=utf-8");
  EXPECT_EQ(type("a=1&b=2"), "text/plain; charset=utf-8");
  EXPECT_EQ(type(""), "");
  EXPECT_EQ(type(std::nullopt), "");
  action.headers = {{"CONTENT-TYPE", "application/x-www-form-urlencoded"}};
  EXPECT_EQ(type("a=1&b=2"), "application/x-www-form-urlencoded");
}

TEST(HttpRequest, AddsHeadersUnlessTheUserBroughtThem) {
  HttpCall call = call_of(an_action());
  add_headers(call, {{"user-agent", "ours"}, {"x-belfry-failed-status", "500"}});
  EXPECT_EQ(header_of(call.headers, "User-Agent"), "Belfry/1.2.3");
  EXPECT_EQ(header_of(call.headers, "x-belfry-failed-status"), "500");
}

TEST(HttpRequest, AuthenticatesWithANameAndAPassword) {
  HttpAction action = an_action();
  action.authentication = BasicAuthentication{"Aladdin", Secret("open sesame")};
  EXPECT_EQ(header_of(call_of(action).headers, "Authorization"),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  action.headers = {{"authorization", "Bearer mine"}};
  EXPECT_EQ(header_of(call_of(action).headers, "Authorization"), "Bearer mine");
}

TEST(HttpRequest, TakesATokenUnlessTheUserBroughtOne) {
  HttpCall call = call_of(an_action());
  add_bearer_token(call, "ours");
  EXPECT_EQ(header_of(call.headers, "Authorization"), "Bearer ours");
  add_bearer_token(call, "another");
  EXPECT_EQ(header_of(call.headers, "Authorization"), "Bearer ours");
}

TEST(HttpRequest, SaysWhatItCannotCall) {
  HttpAction action = an_action();
  action.uri = "ftp://example.com";
  EXPECT_FALSE(http_call_of(action, an_attempt(), a_job(), kIdentity, kIds).has_value());
}

TEST(HttpRequest, WritesTimesWithTheFractionTheyHave) {
  const Instant time = std::chrono::sys_days{std::chrono::year{1601} / 2 / 3};
  EXPECT_EQ(expected_execution_time(time), "1601-02-03T00:00:00");
  EXPECT_EQ(expected_execution_time(time + Ticks{1}), "1601-02-03T00:00:00.0000001");
}

}  // namespace
}  // namespace belfry
