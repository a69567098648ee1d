// SPDX-License-Identifier: MIT

#include "app/engine_thread.h"

#include <algorithm>

#include "base/thread_name.h"

namespace belfry {
namespace {

constexpr Ticks kPatienceMax = std::chrono::seconds{1};

}  // namespace

Ticks patience_until(Instant next, Instant now) {
  return std::clamp(next - now, Ticks{0}, kPatienceMax);
}

EngineThread::EngineThread(Engine& engine, const Clock& clock, Starts starts)
    : engine_(engine), clock_(clock), starts_(starts), thread_([this] { run(); }) {}

EngineThread::~EngineThread() {
  end();
}

void EngineThread::end() {
  if (ending_.exchange(true)) return;
  engine_.inbox().wake();
  thread_.join();
}

void EngineThread::start_starting() {
  Starts waiting = Starts::when_told;
  starts_.compare_exchange_strong(waiting, Starts::at_once);
}

void EngineThread::run() {
  name_thread("engine");
  while (!ending_) {
    const Instant next = step();
    const Ticks patience = patience_until(next, clock_.now());
    if (patience > Ticks{0}) engine_.inbox().wait_for(patience);
  }
}

Instant EngineThread::step() {
  {
    const std::lock_guard lock(mutex_);
    ++progress_.steps_begun;
  }
  engine_.hold(stopping_ || starts_ != Starts::at_once || !clock_.trusted());
  const Instant now = clock_.now();
  const Instant next = engine_.step(now);
  if (sweep_wanted_.exchange(false)) engine_.sweep_all(now);
  {
    const std::lock_guard lock(mutex_);
    progress_.steps_done = progress_.steps_begun;
    progress_.in_flight = engine_.in_flight();
    progress_.idle = progress_.in_flight == 0 && next > now && engine_.inbox().empty();
    progress_.next = next;
  }
  stepped_.notify_all();
  return next;
}

std::uint64_t EngineThread::steps_done() const {
  const std::lock_guard lock(mutex_);
  return progress_.steps_done;
}

std::size_t EngineThread::in_flight() const {
  const std::lock_guard lock(mutex_);
  return progress_.in_flight;
}

Instant EngineThread::wait_until_idle() {
  std::unique_lock lock(mutex_);
  const std::uint64_t begun = progress_.steps_begun;
  lock.unlock();
  engine_.inbox().wake();
  lock.lock();
  stepped_.wait(lock, [&] { return progress_.steps_done > begun && progress_.idle; });
  return progress_.next;
}

void EngineThread::sweep_all() {
  sweep_wanted_ = true;
  static_cast<void>(wait_until_idle());
}

void EngineThread::wait_until_settled(Millis patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t begun = progress_.steps_begun;
  lock.unlock();
  engine_.inbox().wake();
  lock.lock();
  stepped_.wait_for(lock, patience, [&] {
    return progress_.steps_done > begun && progress_.in_flight == 0 && engine_.inbox().empty();
  });
}

}  // namespace belfry
