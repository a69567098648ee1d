// SPDX-License-Identifier: MIT
//
// ReaderPool lends connections to the threads that read. Each sees the database as it was when
// its query began, and disturbs nobody. Connections are opened as they are needed, up to a
// limit; who comes when all are lent waits for one.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "store/sqlite.h"

namespace belfry {

class ReaderPool {
 public:
  using Open = std::function<Result<std::unique_ptr<Connection>>()>;

  // Given back when it ends.
  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    ~Lease();
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;

    Connection& operator*() const { return *connection_; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  ReaderPool(Open open, std::size_t limit) : open_(std::move(open)), limit_(limit) {}

  Result<Lease> take();

  // For a store that must not touch its files any more; none may be lent.
  void keep_log_on_close();

 private:
  void give_back(std::unique_ptr<Connection> connection);

  const Open open_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t opened_ = 0;
};

}  // namespace belfry
