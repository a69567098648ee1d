// SPDX-License-Identifier: MIT
//
// NotifySocket tells the service manager how the server is: systemd names a socket in
// NOTIFY_SOCKET and takes datagrams such as READY=1 there (sd_notify(3)). Where none is named
// every word falls silent. Why not libsystemd: docs/decisions/014-systemd.md.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/result.h"

namespace belfry {

class NotifySocket {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string&)>;

  // Error: what the environment names is no socket that can be sent to.
  static Result<NotifySocket> open(const Environment& environment);

  NotifySocket() = default;  // a silent one
  NotifySocket(NotifySocket&& other) noexcept;
  NotifySocket& operator=(NotifySocket&& other) noexcept;
  ~NotifySocket();

  void ready() const;
  void reloading() const;  // until the next ready()

  // What is under way may take this long: the service manager is not to lose its patience.
  void stopping(Millis grace) const;

  // To be said again within watchdog(), or the service manager restarts us; to nobody where nobody
  // watches.
  void alive() const;
  std::optional<Millis> watchdog() const { return watchdog_; }

 private:
  void say(std::string_view state) const;

  int fd_ = -1;
  std::optional<Millis> watchdog_;
};

}  // namespace belfry
