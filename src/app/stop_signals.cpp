// SPDX-License-Identifier: MIT

#include "app/stop_signals.h"

namespace belfry {
namespace {

// How often files that may be replaced are looked at; SIGHUP has them looked at now.
constexpr timespec kLookAtFilesEvery{.tv_sec = 5, .tv_nsec = 0};

}  // namespace

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void StopSignals::wait(const NotifySocket& notify,
                       const std::function<void()>& look_at_files) const {
  while (true) {
    const int signal = sigtimedwait(&signals_, nullptr, &kLookAtFilesEvery);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) notify.reloading();
    look_at_files();
    if (signal == SIGHUP) notify.ready();
  }
}

}  // namespace belfry
