// SPDX-License-Identifier: MIT

#include "net/amqp_sender.h"

#include <proton/disposition.h>
#include <proton/session.h>
#include <proton/terminus.h>

#include <utility>
#include <vector>

#include "net/amqp_condition.h"
#include "net/amqp_connection.h"

namespace belfry {
namespace {

// Empty: the broker has not made up its mind.
std::optional<AmqpOutcome> outcome_of(pn_delivery_t* delivery) {
  pn_condition_t* condition = pn_disposition_condition(pn_delivery_remote(delivery));
  switch (pn_delivery_remote_state(delivery)) {
    case PN_ACCEPTED:
      return AmqpAccepted{};
    case PN_REJECTED:
      return refusal_of("Rejected", condition);
    case PN_RELEASED:
      return refusal_of("Released", condition);
    case PN_MODIFIED:
      return refusal_of("Modified", condition);
    default:
      break;
  }
  if (pn_delivery_settled(delivery)) return refusal_of("Released", condition);
  return std::nullopt;
}

}  // namespace

AmqpSender::AmqpSender(AmqpConnection& connection, const AmqpCall& first)
    : connection_(connection),
      address_(first.address),
      audience_(first.audience),
      token_(first.token),
      used_(SteadyClock::now()) {}

AmqpSender::~AmqpSender() {
  if (link_ != nullptr) pn_link_set_context(link_, nullptr);
}

void AmqpSender::submit(AmqpExchangePtr exchange) {
  const std::string& owner = exchange->call.owner;  // it lives as long as what is pushed
  waiting_.push(owner, std::move(exchange));
  if (stage_ == Stage::attached) return on_flow();
  if (stage_ == Stage::idle && connection_.is_open()) start();
}

void AmqpSender::start() {
  if (connection_.broker().login == AmqpLogin::plain) return attach();
  stage_ = Stage::authorizing;
  put_token();
}

// Renewed when a fifth of its time is left.
void AmqpSender::put_token() {
  const AmqpToken token = token_();
  renewing_ = true;
  renew_at_ = SteadyClock::now() + token.good_for * 4 / 5;
  connection_.tokens().put(address_, audience_, token.text);
}

void AmqpSender::on_token(const std::optional<AmqpRefusal>& refusal) {
  renewing_ = false;
  if (ended()) return;
  if (refusal) return end(*refusal);
  if (stage_ == Stage::authorizing) attach();
}

void AmqpSender::attach() {
  stage_ = Stage::attached;
  link_ = pn_sender(connection_.session(), connection_.next_link_name().c_str());
  pn_link_set_context(link_, this);
  pn_terminus_set_address(pn_link_target(link_), address_.c_str());
  pn_terminus_set_address(pn_link_source(link_), "belfry");
  pn_link_set_snd_settle_mode(link_, PN_SND_UNSETTLED);
  pn_link_open(link_);
}

void AmqpSender::on_flow() {
  while (!waiting_.empty() && pn_link_credit(link_) > 0) transmit(waiting_.pop());
}

void AmqpSender::transmit(AmqpExchangePtr exchange) {
  ++deliveries_;
  pn_delivery_t* delivery =
      pn_delivery(link_, pn_dtag(reinterpret_cast<const char*>(&deliveries_), sizeof deliveries_));
  const std::string& message = exchange->call.message;
  pn_link_send(link_, message.data(), message.size());
  pn_link_advance(link_);
  exchange->begun = SteadyClock::now();
  unsettled_.emplace(delivery, std::move(exchange));
}

void AmqpSender::on_delivery(pn_delivery_t* delivery) {
  if (!pn_delivery_updated(delivery)) return;
  pn_delivery_clear(delivery);
  if (const auto outcome = outcome_of(delivery)) settle(delivery, *outcome);
}

void AmqpSender::settle(pn_delivery_t* delivery, const AmqpOutcome& outcome) {
  auto found = unsettled_.extract(delivery);
  pn_delivery_settle(delivery);
  if (!found.empty()) connection_.finish(std::move(found.mapped()), outcome);
}

void AmqpSender::check_deadlines(SteadyTime now) {
  if (ended()) return;
  expire_calls(now);
  if (!empty()) used_ = now;
  if (stage_ != Stage::attached) return;
  if (now - used_ >= connection_.limits().idle_timeout) {
    return end(HttpFailure{HttpFailureKind::closed, {}});
  }
  const bool has_token = connection_.broker().login == AmqpLogin::token;
  if (has_token && !renewing_ && now >= renew_at_) put_token();
}

// What the broker has and says nothing about may still be taken by it; the attempt is over.
void AmqpSender::expire_calls(SteadyTime now) {
  const auto is_late = [now](const AmqpExchangePtr& waiting) { return now >= waiting->deadline; };
  for (AmqpExchangePtr& exchange : waiting_.take_if(is_late)) {
    connection_.finish(std::move(exchange),
                       HttpFailure{HttpFailureKind::timeout, "the broker did not ask for it"});
  }
  std::vector<pn_delivery_t*> expired;
  for (const auto& [delivery, exchange] : unsettled_) {
    if (now >= exchange->deadline) expired.push_back(delivery);
  }
  for (pn_delivery_t* delivery : expired) {
    settle(delivery,
           HttpFailure{HttpFailureKind::timeout, "the broker did not say whether it has it"});
  }
}

void AmqpSender::end(const AmqpOutcome& why) {
  if (ended()) return;
  stage_ = Stage::ended;
  if (link_ != nullptr) {
    pn_link_set_context(link_, nullptr);
    pn_link_close(link_);
    pn_link_free(link_);
    link_ = nullptr;
  }
  for (auto waiting = std::exchange(waiting_, {}); !waiting.empty();) {
    connection_.finish(waiting.pop(), why);
  }
  for (auto& [delivery, exchange] : std::exchange(unsettled_, {})) {
    connection_.finish(std::move(exchange), why);
  }
}

}  // namespace belfry
