// SPDX-License-Identifier: MIT
//
// Signals, taken by one thread that waits for them, not by handlers that interrupt. Meanwhile that
// thread looks at files that may have been renewed.

#pragma once

#include <csignal>
#include <functional>

#include "app/notify_socket.h"

namespace belfry {

class StopSignals {
 public:
  // Before there are threads: those that come later must not take them either.
  StopSignals();

  // Returns at SIGTERM or SIGINT. `look_at_files` is called every few seconds, and at SIGHUP.
  void wait(const NotifySocket& notify, const std::function<void()>& look_at_files) const;

 private:
  sigset_t signals_;
};

}  // namespace belfry
