// SPDX-License-Identifier: MIT

#include "app/stop_signals.h"

#include <algorithm>
#include <chrono>

#include "base/instant.h"

namespace belfry {
namespace {

// How often files that may be replaced are looked at; SIGHUP has them looked at now.
constexpr Millis kLookAtFilesEvery = std::chrono::seconds{5};
// A beat may come late by two.
constexpr int kBeatsInWatchdog = 3;

timespec wake_every(const NotifySocket& notify) {
  const Millis watchdog = notify.watchdog().value_or(kBeatsInWatchdog * kLookAtFilesEvery);
  const Millis period =
      std::clamp(watchdog / kBeatsInWatchdog, Millis{1}, Millis{kLookAtFilesEvery});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(period);
  return {.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(period - seconds).count()};
}

}  // namespace

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void StopSignals::wait(const NotifySocket& notify, Heartbeat& heartbeat,
                       const std::function<void()>& look_at_files) const {
  const timespec period = wake_every(notify);
  while (true) {
    const int signal = sigtimedwait(&signals_, nullptr, &period);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) notify.reloading();
    look_at_files();
    if (signal == SIGHUP) notify.ready();
    heartbeat.beat();
  }
}

}  // namespace belfry
