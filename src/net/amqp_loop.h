// SPDX-License-Identifier: MIT
//
// AmqpLoop is the client's thread and the brokers that live on it. Any thread may hand calls
// over and learns at once whether there is room; everything else happens on the one thread and
// needs no lock.
//
// AmqpPeer is what the client has for one broker: at most one connection, and how long to wait
// before the next one.

#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "net/amqp_exchange.h"
#include "net/held_back.h"
#include "net/http_client_admission.h"

namespace belfry {

class AmqpConnection;
class AmqpLoop;

class AmqpPeer {
 public:
  AmqpPeer(AmqpLoop& loop, AmqpBroker broker) : loop_(loop), broker_(std::move(broker)) {}

  void submit(AmqpExchangePtr exchange);
  void check_deadlines(SteadyTime now);
  void close();  // nothing was accepted for it that is not finished
  bool idle(SteadyTime now) const { return !connection_ && now >= not_before_; }

  // What the connection tells: the broker let us in; it is over.
  void on_open() { backoff_ = Millis{0}; }
  void on_ended(bool was_open);

  AmqpLoop& loop() { return loop_; }
  const AmqpBroker& broker() const { return broker_; }

  HttpAdmission::Origin taken;  // the loop's mutex guards it

 private:
  AmqpLoop& loop_;
  AmqpBroker broker_;
  std::shared_ptr<AmqpConnection> connection_;
  Millis backoff_{0};
  SteadyTime not_before_{};
};

class AmqpLoop : public std::enable_shared_from_this<AmqpLoop> {
 public:
  explicit AmqpLoop(AmqpClient::Options options);

  // On the loop's thread, until stop().
  void run() { context_.run(); }

  // From any thread.
  bool send(AmqpCall call, AmqpClient::Done done);
  std::vector<TargetLoad> loads();
  void stop_taking();
  bool wait_for_none(Millis grace);
  void stop() { context_.stop(); }
  boost::asio::io_context& context() { return context_; }
  const AmqpClient::Options& options() const { return options_; }

  // On the loop's thread.
  void finish(AmqpPeer& peer, AmqpExchangePtr exchange, const AmqpOutcome& outcome);

 private:
  struct Submission {
    AmqpPeer* peer;
    AmqpExchangePtr exchange;
  };

  AmqpPeer* admit(const AmqpCall& call);
  void release(AmqpPeer& peer, const std::string& owner);
  void take_inbox();
  void arm_timer();
  void check_deadlines();
  std::vector<AmqpPeer*> peers();
  void close_idle_peers();
  std::vector<AmqpPeer*> idle_peers();
  void forget_idle_peers(SteadyTime now);

  const AmqpClient::Options options_;
  boost::asio::io_context context_{/*concurrency_hint=*/1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  HeldBack<Submission> held_{context_,
                             [](Submission due) { due.peer->submit(std::move(due.exchange)); }};
  boost::asio::steady_timer timer_{context_};
  bool timer_armed_ = false;

  std::mutex mutex_;  // guards what follows
  std::condition_variable none_;
  bool taking_ = true;
  HttpAdmission admission_;
  std::vector<Submission> inbox_;
  std::map<AmqpBroker, AmqpPeer> peers_;
};

}  // namespace belfry
