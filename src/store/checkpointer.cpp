// SPDX-License-Identifier: MIT

#include "store/checkpointer.h"

#include <utility>

#include "base/failpoint.h"
#include "base/thread_name.h"

namespace belfry {
namespace {

constexpr int kCopies = 6;      // at most
constexpr int kFewPages = 256;  // are copied and on the disk in a few milliseconds

}  // namespace

Checkpointer::Checkpointer(std::unique_ptr<Connection> connection, std::mutex& writer,
                           std::function<void(const SqliteFailure&)> failed)
    : connection_(std::move(connection)),
      writer_(writer),
      failed_(std::move(failed)),
      thread_([this] { loop(); }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Checkpointer::request(LogLength length) {
  {
    const std::lock_guard lock(mutex_);
    requested_ = true;
    too_long_ = length == LogLength::too_long;
  }
  changed_.notify_one();
}

void Checkpointer::loop() {
  name_thread("checkpoint");
  while (true) {
    bool too_long = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return requested_ || stopping_; });
      if (stopping_) return;
      requested_ = false;
      too_long = std::exchange(too_long_, false);
    }
    if (!too_long) {
      copy_log();
      continue;
    }
    copy_until_little_is_left();
    const std::lock_guard no_commits(writer_);
    copy_log();
  }
}

void Checkpointer::copy_until_little_is_left() {
  int copied = copy_log();
  for (int times = 1; times < kCopies; ++times) {
    const int before = std::exchange(copied, copy_log());
    if (copied - before <= kFewPages) return;
  }
}

int Checkpointer::copy_log() {
  FAILPOINT("before-checkpoint");
  const int copied = connection_->checkpoint();
  FAILPOINT("after-checkpoint");
  if (connection_->failed()) failed_(connection_->take_failure());
  return copied;
}

void Checkpointer::keep_log_on_close() {
  connection_->keep_log_on_close();
}

}  // namespace belfry
