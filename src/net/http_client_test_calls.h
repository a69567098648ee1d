// SPDX-License-Identifier: MIT
//
// For tests: a client that may call this machine, and calls whose outcome is waited for.

#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "net/http_client.h"

namespace belfry {

// Waiting ends after this time: a test that would hang fails instead.
inline constexpr Millis kPatience{20'000};

// Reading the system's authorities takes long; once is enough for all tests.
inline std::shared_ptr<const TlsClient> system_tls() {
  static const auto made = TlsClient::make({});
  EXPECT_TRUE(made.has_value());
  return *made;
}

inline HttpClient::Options local_options(const HttpClientLimits& limits = {}) {
  HttpClient::Options options;
  options.limits = limits;
  options.tls = system_tls();
  options.guard = EgressGuard({.allow_loopback = true, .allowed = {}});
  return options;
}

inline std::unique_ptr<HttpClient> start_client(HttpClient::Options options) {
  auto started = HttpClient::start(std::move(options));
  EXPECT_TRUE(started.has_value());
  return *std::move(started);
}

inline HttpCall call_to(const std::string& host, std::uint16_t port) {
  HttpCall call;
  call.origin = {false, host, port};
  call.method = "GET";
  call.target = "/";
  call.authority = host;
  return call;
}

inline HttpCall call_to(std::uint16_t port) {
  return call_to("127.0.0.1", port);
}

// The call is on its way; the outcome is the future's.
inline std::future<HttpResult> begin(HttpClient& client, HttpCall call) {
  const auto promise = std::make_shared<std::promise<HttpResult>>();
  const bool taken = client.send(
      std::move(call), [promise](HttpResult result) { promise->set_value(std::move(result)); });
  EXPECT_TRUE(taken);
  return promise->get_future();
}

inline HttpResult await(std::future<HttpResult> result) {
  if (result.wait_for(kPatience) == std::future_status::ready) return result.get();
  ADD_FAILURE() << "no outcome came";
  return {};
}

inline HttpResult ask(HttpClient& client, HttpCall call) {
  return await(begin(client, std::move(call)));
}

// Fails the test when there is none.
inline HttpReply reply_of(const HttpResult& result) {
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) return *reply;
  ADD_FAILURE() << "failed: " << std::get<HttpFailure>(result.what).detail;
  return {};
}

inline HttpFailure failure_of(const HttpResult& result) {
  if (const auto* failure = std::get_if<HttpFailure>(&result.what)) return *failure;
  ADD_FAILURE() << "answered " << std::get<HttpReply>(result.what).status;
  return {};
}

}  // namespace belfry
