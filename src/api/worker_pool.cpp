// SPDX-License-Identifier: MIT

#include "api/worker_pool.h"

#include <utility>

#include "base/assert.h"
#include "base/thread_name.h"

namespace belfry {
namespace {

thread_local const WorkerPool* working_for = nullptr;
thread_local bool stepped_aside = false;

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, WorkerLimits limits)
    : limits_(limits), threads_max_(threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

WorkerPool::~WorkerPool() {
  finish();
}

void WorkerPool::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool WorkerPool::wants_another() {
  const std::size_t at_hand = threads_max_ - asleep_ - aside_;
  if (asleep_ == 0 || waiting() == 0) return false;
  if (at_hand > 0 && waiting() <= kWaitingPerWorker * at_hand) return false;
  --asleep_;
  ++woken_;
  return true;
}

bool WorkerPool::try_post(const std::string& client, Work work) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (new_.size() >= limits_.waiting_max) return false;
    if (new_.size_of(client) >= limits_.waiting_per_client_max) return false;
    new_.push(client, std::move(work));
    wake = wants_another();
  }
  if (wake) arrived_.notify_one();
  return true;
}

void WorkerPool::post(Work work) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    begun_.push_back(std::move(work));
    wake = wants_another();
  }
  if (wake) arrived_.notify_one();
}

// From another thread nobody would count it down again.
void WorkerPool::step_aside() {
  ASSERT(working_for == this);
  if (std::exchange(stepped_aside, true)) return;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    ++aside_;
    wake = wants_another();
  }
  if (wake) arrived_.notify_one();
}

WorkerPool::Work WorkerPool::take_next() {
  if (begun_.empty()) return new_.pop();
  Work work = std::move(begun_.front());
  begun_.pop_front();
  return work;
}

void WorkerPool::run() {
  name_thread("worker");
  working_for = this;
  std::unique_lock lock(mutex_);
  while (!ending_ || waiting() > 0) waiting() > 0 ? do_next(lock) : sleep(lock);
}

void WorkerPool::sleep(std::unique_lock<std::mutex>& lock) {
  ++asleep_;
  arrived_.wait(lock, [this] { return ending_ || woken_ > 0; });
  --(woken_ > 0 ? woken_ : asleep_);
}

void WorkerPool::do_next(std::unique_lock<std::mutex>& lock) {
  Work work = take_next();
  lock.unlock();
  work();
  work = {};  // what it holds goes before the lock is taken
  lock.lock();
  if (std::exchange(stepped_aside, false)) --aside_;
}

}  // namespace belfry
