// SPDX-License-Identifier: MIT
//
// AmqpSender is the link to one address of a broker: the messages that wait for the broker's
// credit, where their owners take turns, and those that wait for its word. Where the broker wants
// tokens, it has one put before the link is attached and again before the token expires.

#pragma once

#include <proton/delivery.h>
#include <proton/link.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/turns.h"
#include "net/amqp_exchange.h"

namespace belfry {

class AmqpConnection;

class AmqpSender {
 public:
  // `first` says what the link is for; nothing is sent yet.
  AmqpSender(AmqpConnection& connection, const AmqpCall& first);
  ~AmqpSender();
  AmqpSender(const AmqpSender&) = delete;
  AmqpSender& operator=(const AmqpSender&) = delete;

  void submit(AmqpExchangePtr exchange);
  void start();  // the connection is open
  void check_deadlines(SteadyTime now);

  void on_token(const std::optional<AmqpRefusal>& refusal);
  void on_flow();
  void on_delivery(pn_delivery_t* delivery);

  // Everything on it fails with this, and nothing may be submitted any more.
  void end(const AmqpOutcome& why);
  bool ended() const { return stage_ == Stage::ended; }

 private:
  enum class Stage { idle, authorizing, attached, ended };

  void put_token();
  void attach();
  void transmit(AmqpExchangePtr exchange);
  void settle(pn_delivery_t* delivery, const AmqpOutcome& outcome);
  void expire_calls(SteadyTime now);
  bool empty() const { return waiting_.empty() && unsettled_.empty(); }

  AmqpConnection& connection_;
  const std::string address_;
  const std::string audience_;
  const std::function<AmqpToken()> token_;
  Stage stage_ = Stage::idle;
  bool renewing_ = false;
  SteadyTime renew_at_{};
  SteadyTime used_;
  pn_link_t* link_ = nullptr;
  std::uint64_t deliveries_ = 0;
  Turns<AmqpExchangePtr> waiting_;  // by owner
  std::map<pn_delivery_t*, AmqpExchangePtr> unsettled_;
};

}  // namespace belfry
