// SPDX-License-Identifier: MIT
//
// WorkerPool runs what may block (a read of the store) or takes a while (JSON) on threads of
// its own, so that neither the I/O threads nor the engine wait for it.
//
// What was begun is finished before something new is begun, and of what is new the clients take
// turns: one who asks for too much waits longer, and the others do not.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/turns.h"

namespace belfry {

struct WorkerLimits {
  std::size_t waiting_max = 10'000;
  std::size_t waiting_per_client_max = 5'000;  // so that no client takes all the room there is
};

class WorkerPool {
 public:
  using Work = std::function<void()>;

  WorkerPool(std::size_t threads, WorkerLimits limits);
  ~WorkerPool();

  // Does what is waiting, then ends the threads. What the work refers to must live until then.
  void finish();

  // False when too much is waiting already.
  bool try_post(const std::string& client, Work work);

  // For what was begun and must be finished, such as an answer: never refused.
  void post(Work work);

 private:
  void run();
  bool idle() const { return begun_.empty() && new_.empty(); }
  Work take_next();

  const WorkerLimits limits_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> begun_;
  Turns<Work> new_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace belfry
