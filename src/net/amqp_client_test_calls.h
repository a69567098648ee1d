// SPDX-License-Identifier: MIT
//
// For tests: a client that may call this machine, and messages whose outcome is waited for.

#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/amqp_client.h"
#include "net/amqp_message.h"
#include "net/http_client_test_calls.h"

namespace belfry {

// What came of calls, for a test that waits for it.
class AmqpResults {
 public:
  AmqpClient::Done receiver() {
    return [this](AmqpResult result) {
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(result.what));
      came_.notify_all();
    };
  }

  std::vector<AmqpOutcome> take(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, kPatience, [&] { return results_.size() >= count; }));
    return std::exchange(results_, {});
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return results_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<AmqpOutcome> results_;
};

inline AmqpClient::Options local_amqp_options(const AmqpLimits& limits = {}) {
  AmqpClient::Options options;
  options.limits = limits;
  options.guard = EgressGuard({.allow_loopback = true, .allowed = {}});
  options.tls = system_tls();
  return options;
}

inline std::unique_ptr<AmqpClient> start_amqp_client(AmqpClient::Options options) {
  auto started = AmqpClient::start(std::move(options));
  EXPECT_TRUE(started.has_value());
  return *std::move(started);
}

inline AmqpCall message_to(std::uint16_t port, const std::string& address = "q") {
  AmqpCall call;
  call.broker = {false, "127.0.0.1", port, AmqpLogin::token, "user", "key"};
  call.address = address;
  call.audience = "sb://127.0.0.1/" + address;
  call.token = [] { return AmqpToken{"token", Millis{600'000}}; };
  call.message = encode_amqp_message({});
  call.timeout = kPatience;
  return call;
}

inline AmqpOutcome outcome_of(AmqpClient& client, AmqpCall call) {
  AmqpResults results;
  EXPECT_TRUE(client.send(std::move(call), results.receiver()));
  return results.take(1).at(0);
}

}  // namespace belfry
