// SPDX-License-Identifier: MIT
//
// WorkerPool runs what may block (a read of the store) or takes a while (JSON) on threads of
// its own, so that neither the I/O threads nor the engine wait for it.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace belfry {

class WorkerPool {
 public:
  using Work = std::function<void()>;

  WorkerPool(std::size_t threads, std::size_t waiting_max);
  ~WorkerPool();

  // Does what is waiting, then ends the threads. What the work refers to must live until then.
  void finish();

  // False when too much is waiting already.
  bool try_post(Work work);

  // For what was begun and must be finished, such as an answer: never refused.
  void post(Work work);

 private:
  void run();

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace belfry
