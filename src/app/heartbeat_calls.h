// SPDX-License-Identifier: MIT
//
// HeartbeatCalls says once a minute to a monitor outside that the server does what it is for, and
// only while it does: when nothing comes any more, the monitor wakes somebody, whatever the reason.
// Where a call goes is a secret, for whoever knows it can call in our place: it is not known here.

#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/log.h"

namespace belfry {

class HeartbeatCalls {
 public:
  static constexpr Ticks kEvery = std::chrono::minutes{1};
  static constexpr Ticks kFaultToldEvery = std::chrono::hours{1};

  // `fault` says why a call did not arrive; it is empty when one did.
  using Arrived = std::function<void(const std::string& fault)>;
  struct Options {
    std::function<void(Arrived)> call;  // says once what came of it, on any thread
    std::function<bool()> ready;        // /readyz says ok
    std::function<void(LogLevel, std::string_view, std::initializer_list<LogField>)> log;
  };

  explicit HeartbeatCalls(Options options) : options_(std::move(options)) {}

  // Calls if it is time to. To be asked every few seconds, by one thread.
  void look(Instant now);

 private:
  void note(const std::string& fault, Instant called);

  const Options options_;
  std::optional<Instant> due_;  // none: at once
  std::atomic<bool> under_way_ = false;

  std::mutex mutex_;  // guards what follows
  std::optional<Instant> fault_told_;
};

}  // namespace belfry
