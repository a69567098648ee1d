// SPDX-License-Identifier: MIT

#include "api/worker_pool.h"

#include <utility>

#include "base/thread_name.h"

namespace belfry {

WorkerPool::WorkerPool(std::size_t threads, WorkerLimits limits) : limits_(limits) {
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

bool WorkerPool::try_post(const std::string& client, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (new_.size() >= limits_.waiting_max) return false;
    if (new_.size_of(client) >= limits_.waiting_per_client_max) return false;
    new_.push(client, std::move(work));
  }
  arrived_.notify_one();
  return true;
}

void WorkerPool::post(Work work) {
  {
    const std::lock_guard lock(mutex_);
    begun_.push_back(std::move(work));
  }
  arrived_.notify_one();
}

WorkerPool::Work WorkerPool::take_next() {
  if (begun_.empty()) return new_.pop();
  Work work = std::move(begun_.front());
  begun_.pop_front();
  return work;
}

void WorkerPool::run() {
  name_thread("worker");
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ending_ || !idle(); });
    if (idle()) return;
    Work work = take_next();
    lock.unlock();
    work();
    work = {};  // what it holds goes before the lock is taken
    lock.lock();
  }
}

}  // namespace belfry
