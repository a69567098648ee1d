// SPDX-License-Identifier: MIT

#include "engine/inbox.h"

namespace belfry {

bool Inbox::submit(CommandLetter letter) {
  {
    const std::lock_guard lock(mutex_);
    if (letters_.commands.size() >= kWaitingCommandsMax) return false;
    letters_.commands.push_back(std::move(letter));
  }
  arrived_.notify_one();
  return true;
}

void Inbox::report(const Attempt& attempt, Outcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    letters_.reports.emplace_back(attempt, std::move(outcome));
  }
  arrived_.notify_one();
}

Inbox::Letters Inbox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(letters_, {});
}

bool Inbox::empty() const {
  const std::lock_guard lock(mutex_);
  return letters_.commands.empty() && letters_.reports.empty();
}

void Inbox::wait_for(Ticks patience) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, patience, [this] {
    return woken_ || !letters_.commands.empty() || !letters_.reports.empty();
  });
  woken_ = false;
}

void Inbox::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  arrived_.notify_one();
}

}  // namespace belfry
