// SPDX-License-Identifier: MIT

#include "store/reader_pool.h"

namespace belfry {

ReaderPool::Lease::~Lease() {
  if (connection_ != nullptr) pool_->give_back(std::move(connection_));
}

Result<ReaderPool::Lease> ReaderPool::take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !idle_.empty() || opened_ < limit_; });
  if (!idle_.empty()) {
    // The one given back last: its pages are the likeliest to be in memory still.
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return Lease(*this, std::move(connection));
  }
  ++opened_;
  lock.unlock();
  auto connection = open_();
  if (connection) return Lease(*this, *std::move(connection));
  lock.lock();
  --opened_;
  returned_.notify_one();
  return connection.error();
}

void ReaderPool::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(connection));
  returned_.notify_one();
}

void ReaderPool::keep_log_on_close() {
  const std::lock_guard lock(mutex_);
  for (const auto& connection : idle_) connection->keep_log_on_close();
}

}  // namespace belfry
