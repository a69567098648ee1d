// SPDX-License-Identifier: MIT
//
// OutsideMonitor makes the calls of HeartbeatCalls: a plain GET of the operator's address. It has
// a client and a thread of its own, so that neither is in the way of jobs' calls.

#pragma once

#include <memory>

#include "app/heartbeat_calls.h"
#include "base/result.h"
#include "model/secret.h"
#include "net/http_client.h"

namespace belfry {

class OutsideMonitor {
 public:
  // `url` is an address that can be called.
  static Result<std::unique_ptr<OutsideMonitor>> start(const Secret& url, HttpClient::Options http,
                                                       std::function<bool()> ready);

  void look(Instant now) { calls_.look(now); }

 private:
  OutsideMonitor(HttpCall call, std::unique_ptr<HttpClient> http, std::function<bool()> ready);

  void send(const HeartbeatCalls::Arrived& arrived);

  const HttpCall call_;
  HeartbeatCalls calls_;
  const std::unique_ptr<HttpClient> http_;  // ends first: its thread tells the calls
};

}  // namespace belfry
