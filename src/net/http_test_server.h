// SPDX-License-Identifier: MIT
//
// For tests: a server on a free port of the loopback address, and handlers for it.

#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"
#include "net/loopback_client.h"

namespace belfry {

inline std::unique_ptr<HttpServer> serve(HttpServer::Options options) {
  auto started = HttpServer::start(std::move(options));
  EXPECT_TRUE(started.has_value());
  return *std::move(started);
}

inline std::unique_ptr<HttpServer> serve(HttpServer::Handler handler,
                                         const HttpServerLimits& limits = {}) {
  HttpServer::Options options;
  options.handler = std::move(handler);
  options.limits = limits;
  options.shares.patience_when_full = std::chrono::hours{1};  // however slow the machine is
  return serve(std::move(options));
}

// Answers with what was asked.
inline void echo(HttpRequest request, const HttpServer::Respond& respond) {
  respond({200, {}, request.method + ' ' + request.target + ' ' + request.body});
}

inline std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

// A handler that answers nothing by itself: the test takes the requests out and decides when.
class HeldRequests {
 public:
  struct Held {
    HttpRequest request;
    HttpServer::Respond respond;
  };

  HttpServer::Handler handler() {
    return [this](HttpRequest request, HttpServer::Respond respond) {
      const std::lock_guard lock(mutex_);
      held_.push_back({std::move(request), std::move(respond)});
      came_.notify_all();
    };
  }

  // Waits for the next request.
  Held take() {
    std::unique_lock lock(mutex_);
    const bool came =
        came_.wait_for(lock, LoopbackClient::kPatience, [&] { return !held_.empty(); });
    EXPECT_TRUE(came);
    Held first = std::move(held_.front());
    held_.erase(held_.begin());
    return first;
  }

  bool empty() {
    const std::lock_guard lock(mutex_);
    return held_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Held> held_;
};

}  // namespace belfry
