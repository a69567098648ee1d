// SPDX-License-Identifier: MIT
//
// HttpServerLoop is one I/O thread's share of a server: an io_context that a single thread runs,
// and the connections that live on it. A connection never leaves its loop, so nothing in it needs
// a lock; other threads reach it by posting.
//
// Who keeps whom: the server owns its loops, a loop its connections, and a connection holds its
// loop, which thus outlives whatever a late answer still holds. The circle is broken by
// closing: a closed connection is forgotten by its loop. HttpServing dies with the server;
// only the loop's own thread, which the server joins, may touch it.

#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "net/http_server.h"
#include "net/http_server_stream.h"

namespace belfry {

class HttpServerConnection;

using LoopTimer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>,
                                      boost::asio::io_context::executor_type>;

// How many connections are open in all loops.
class OpenConnections {
 public:
  std::size_t add();  // how many there are now, with this one
  void remove();
  std::size_t count() const;
  void wait_for_none(Millis timeout) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable none_;
  std::size_t count_ = 0;
};

// Bytes that the connections of all loops hold together.
class HeldBytes {
 public:
  explicit HeldBytes(std::size_t max) : max_(max) {}

  // False, and nothing is taken, when they would be too many.
  bool take(std::size_t bytes);
  void release(std::size_t bytes) { held_ -= bytes; }

 private:
  const std::size_t max_;
  std::atomic<std::size_t> held_ = 0;
};

struct HttpServing {
  explicit HttpServing(HttpServer::Options with)
      : options(std::move(with)),
        requests(options.shares.request_bytes_max),
        answers(options.shares.answer_bytes_max) {}

  HttpServer::Options options;
  OpenConnections open;
  HeldBytes requests;
  HeldBytes answers;
};

class HttpServerLoop : public std::enable_shared_from_this<HttpServerLoop> {
 public:
  struct Arrival {
    TcpSocket socket;
    std::string remote_address;
    bool beyond_limit = false;  // to be answered 503
  };

  explicit HttpServerLoop(HttpServing& serving) : serving_(serving) {}

  // Runs on the calling thread until stop(), and all that was under way has ended.
  void run() { context_.run(); }

  // From any thread.
  boost::asio::io_context& context() { return context_; }
  bool on_loop_thread() { return context_.get_executor().running_in_this_thread(); }
  void adopt(Arrival arrival);
  void stop();

  // On the loop's thread.
  void start_draining();
  bool draining() const { return draining_; }
  HttpServing& serving() { return serving_; }
  void forget(const std::shared_ptr<HttpServerConnection>& connection);

  // The connections that we await a request of, whoever keeps us waiting longest first.
  using Waiting = std::list<HttpServerConnection*>;
  Waiting::iterator add_waiting(HttpServerConnection& connection);
  void remove_waiting(Waiting::iterator place) { waiting_.erase(place); }

  // Closes the first of them, if it has had its time; false when there is none.
  bool close_longest_waiting();

  // The same of those that the predicate is true of and that stand before the one given.
  bool close_longest_waiting(const std::function<bool(const HttpServerConnection&)>& may_go,
                             const HttpServerConnection* before = nullptr);

 private:
  void admit(Arrival arrival);
  void close_all();
  // Connections may leave the set while they are told something; this one stays as it is.
  std::vector<std::shared_ptr<HttpServerConnection>> connections() const;

  HttpServing& serving_;
  boost::asio::io_context context_{/*concurrency_hint=*/1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::unordered_set<std::shared_ptr<HttpServerConnection>> connections_;
  Waiting waiting_;
  bool draining_ = false;
  bool stopping_ = false;
};

}  // namespace belfry
