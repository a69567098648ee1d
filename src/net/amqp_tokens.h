// SPDX-License-Identifier: MIT
//
// AmqpTokens hands tokens to a broker's $cbs node (AMQP claims-based security) and says what
// became of each: a request over one link, the answer over another.

#pragma once

#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/session.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "net/amqp_call.h"

namespace belfry {

class AmqpTokens {
 public:
  // Whom a token was for; and why the broker does not want it, if so.
  using Report =
      std::function<void(const std::string& address, const std::optional<AmqpRefusal>& refusal)>;

  AmqpTokens(pn_session_t* session, Report report)
      : session_(session), report_(std::move(report)) {}

  void put(const std::string& address, const std::string& audience, const std::string& token);

  bool owns(const pn_link_t* link) const { return link == sender_ || link == receiver_; }
  void on_flow();
  void on_delivery(pn_delivery_t* delivery);

  // The broker closed one of the links: every token on its way is refused.
  void on_closed(const AmqpRefusal& refusal);

 private:
  void attach();
  void on_answer(pn_delivery_t* delivery);

  pn_session_t* session_;
  Report report_;
  pn_link_t* sender_ = nullptr;
  pn_link_t* receiver_ = nullptr;
  std::uint64_t requests_ = 0;
  std::deque<std::string> waiting_;             // encoded, for the broker's credit
  std::map<std::string, std::string> pending_;  // address by the id of the request
};

}  // namespace belfry
