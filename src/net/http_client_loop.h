// SPDX-License-Identifier: MIT
//
// HttpClientLoop is one thread's share of the client: an io_context that a single thread runs,
// and the origins that live on it. An origin never leaves its loop, so nothing of it needs a
// lock but the count of its calls, by which any thread learns at once whether there is room.
//
// Calls come in through an inbox that is emptied whole: of a thousand calls handed over in a
// row only the first has to wake the thread.

#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "net/held_back.h"
#include "net/http_client_origin.h"

namespace belfry {

class HttpClientLoop : public std::enable_shared_from_this<HttpClientLoop> {
 public:
  // Of the limits that count over all origins `limits` has this loop's share.
  HttpClientLoop(std::shared_ptr<const HttpClient::Options> options, HttpClientLimits limits)
      : options_(std::move(options)), idle_max_(limits.idle_max), admission_(limits) {}

  // On the loop's thread, until stop().
  void run() { context_.run(); }

  // From any thread.
  bool send(HttpDestination to, Ticks hold, HttpClient::Make make, HttpClient::Done done);
  std::optional<HttpRoom> reserve(HttpDestination to);
  void send(HttpRoom room, HttpCall call, HttpClient::Done done);
  void release(HttpOriginPool& pool, const std::string& owner);
  void add_loads(std::vector<TargetLoad>& all);
  void stop_taking();
  bool wait_for_none(SteadyTime until);
  void stop() { context_.stop(); }
  boost::asio::io_context& context() { return context_; }
  const HttpClient::Options& options() const { return *options_; }

  // On the loop's thread.
  void finish(HttpOriginPool& pool, HttpExchangePtr exchange, HttpOutcome outcome);
  bool idle_has_room() const { return idle_ < idle_max_; }
  void idle_changed(int by) { idle_ += static_cast<std::size_t>(by); }

 private:
  struct KeyHash {
    std::size_t operator()(const HttpOriginKey& key) const;
  };
  struct Submission {
    HttpOriginPool* pool;
    HttpExchangePtr exchange;
    HttpClient::Make make;
  };
  using Pools = std::unordered_map<HttpOriginKey, HttpOriginPool, KeyHash>;

  HttpOriginKey key_of(HttpDestination& to) const;
  HttpOriginPool* admit(HttpOriginKey key, const std::string& owner);
  bool put_in_inbox(Submission submission);
  void take_inbox();
  void begin(Submission submission);
  void arm_timer();
  void check_deadlines();
  std::vector<HttpOriginPool*> pools();
  void forget_empty_pools();

  const std::shared_ptr<const HttpClient::Options> options_;
  const std::size_t idle_max_;
  boost::asio::io_context context_{/*concurrency_hint=*/1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  HeldBack<Submission> held_{context_, [this](Submission due) { begin(std::move(due)); }};
  boost::asio::steady_timer timer_{context_};
  bool timer_armed_ = false;
  std::size_t idle_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable none_;
  bool taking_ = true;
  HttpAdmission admission_;
  std::deque<Submission> inbox_;
  Pools pools_;
};

}  // namespace belfry
