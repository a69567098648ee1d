// SPDX-License-Identifier: MIT
//
// WorkerPool runs what may block (a read of the store) or takes a while (JSON) on threads of
// its own, so that neither the I/O threads nor the engine wait for it.
//
// What was begun is finished before something new is begun, and of what is new the clients take
// turns: one who asks for too much waits longer, and the others do not.
//
// Most work is done within microseconds, sooner than another thread wakes up. So one thread does
// it for as long as it keeps up; another is woken when many wait, or when what is being done may
// take long (step_aside()).

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

inline constexpr std::size_t kWaitingPerWorker = 32;

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
  const WorkerLimits& limits() const { return limits_; }

  // For what was begun and must be finished, such as an answer: never refused.
  void post(Work work);

  // Called by work that may take long, such as a page of a list, on the thread that it was given:
  // from here on others do what waits.
  void step_aside();

 private:
  void run();
  void sleep(std::unique_lock<std::mutex>& lock);
  void do_next(std::unique_lock<std::mutex>& lock);
  Work take_next();
  std::size_t waiting() const { return begun_.size() + new_.size(); }

  // Whether the caller, once it has let go of the lock, is to wake a thread.
  bool wants_another();

  const WorkerLimits limits_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> begun_;
  Turns<Work> new_;
  bool ending_ = false;
  const std::size_t threads_max_;
  std::size_t asleep_ = 0;  // threads that nobody has woken
  std::size_t woken_ = 0;   // threads that were woken and have not noticed yet
  std::size_t aside_ = 0;   // threads whose work may take long
  std::vector<std::thread> threads_;
};

}  // namespace belfry
