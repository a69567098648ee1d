// SPDX-License-Identifier: MIT
//
// Checkpointer copies the write-ahead log into the database on a thread of its own, so that
// commits do not wait for it. The log begins anew once all of it was copied and nobody has
// written since; while commits never pause that moment does not come, so when the log has
// grown long the last bit is copied with the writer held up: what is committed while the log is
// copied is less each time, so that the writer waits for little.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "store/sqlite.h"

namespace belfry {

enum class LogLength { grown, too_long };

class Checkpointer {
 public:
  // Holds `writer` to keep commits away. `failed` hears of what went wrong, on the thread.
  Checkpointer(std::unique_ptr<Connection> connection, std::mutex& writer,
               std::function<void(const SqliteFailure&)> failed);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  void request(LogLength length);

  // For a store that must not touch its files any more.
  void keep_log_on_close();

 private:
  void loop();
  int copy_log();  // how many of its pages are copied now
  void copy_until_little_is_left();

  const std::unique_ptr<Connection> connection_;
  std::mutex& writer_;
  const std::function<void(const SqliteFailure&)> failed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;
  bool too_long_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace belfry
