// SPDX-License-Identifier: MIT

#include "net/amqp_connection.h"

#include <fmt/format.h>
#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "net/amqp_condition.h"
#include "net/amqp_loop.h"

namespace belfry {
namespace {

constexpr std::string_view kUnauthorized = "amqp:unauthorized-access";

pn_timestamp_t milliseconds_of(SteadyTime time) {
  return std::chrono::duration_cast<Millis>(time.time_since_epoch()).count();
}

}  // namespace

AmqpConnection::AmqpConnection(AmqpPeer& peer)
    : peer_(peer), stream_(peer.loop().context()), used_(SteadyClock::now()) {}

AmqpConnection::~AmqpConnection() {
  senders_.clear();  // before what they point into
  tokens_.reset();
  if (driver_.connection != nullptr) pn_connection_driver_destroy(&driver_);
}

const AmqpBroker& AmqpConnection::broker() const {
  return peer_.broker();
}

const AmqpLimits& AmqpConnection::limits() const {
  return peer_.loop().options().limits;
}

std::string AmqpConnection::next_link_name() {
  return fmt::format("belfry-{}", ++links_);
}

void AmqpConnection::finish(AmqpExchangePtr exchange, const AmqpOutcome& outcome) {
  peer_.loop().finish(peer_, std::move(exchange), outcome);
}

void AmqpConnection::submit(AmqpExchangePtr exchange) {
  ASSERT(stage_ != Stage::closed && !closing_);
  auto& sender = senders_[exchange->call.address];
  if (!sender || sender->ended()) sender = std::make_unique<AmqpSender>(*this, exchange->call);
  sender->submit(std::move(exchange));
  pump();
}

void AmqpConnection::open() {
  enter(Stage::opening, SteadyClock::now() + limits().open_timeout);
  pn_connection_driver_init(&driver_, nullptr, nullptr);
  pn_connection_set_container(driver_.connection, peer_.loop().options().container.c_str());
  pn_connection_set_hostname(driver_.connection, broker().host.c_str());
  const bool plain = broker().login == AmqpLogin::plain;
  if (plain) {
    pn_connection_set_user(driver_.connection, broker().user.c_str());
    pn_connection_set_password(driver_.connection, broker().password.c_str());
  }
  pn_transport_trace(driver_.transport, PN_TRACE_OFF);  // it would show tokens
  pn_sasl_t* sasl = pn_sasl(driver_.transport);
  pn_sasl_allowed_mechs(sasl, plain ? "PLAIN" : "ANONYMOUS");
  // Our TLS is outside of what Proton sees; without it, the operator wants it so.
  pn_sasl_set_allow_insecure_mechs(sasl, true);
  pn_transport_set_idle_timeout(driver_.transport,
                                static_cast<pn_millis_t>(limits().silence_max.count()));
  pn_connection_open(driver_.connection);
  session_ = pn_session(driver_.connection);
  pn_session_open(session_);
  tokens_.emplace(session_,
                  [this](const std::string& address, const std::optional<AmqpRefusal>& refusal) {
                    on_token(address, refusal);
                  });
  pump();
  read();
}

// Lets Proton say what happened, then writes what it has to write. Whoever changes anything
// about the connection calls this last.
void AmqpConnection::pump() {
  if (pumping_ || session_ == nullptr) return;
  const auto self = shared_from_this();  // an event may end it
  pumping_ = true;
  while (stage_ != Stage::closed) {
    pn_event_t* event = pn_connection_driver_next_event(&driver_);
    if (event == nullptr) break;
    handle(event);
  }
  pumping_ = false;
  if (stage_ == Stage::closed) return;
  forget_ended_senders();
  write();
}

void AmqpConnection::write() {
  if (writing_) return;
  const pn_bytes_t bytes = pn_connection_driver_write_buffer(&driver_);
  if (bytes.size == 0) {
    if (closing_) end(HttpFailure{HttpFailureKind::closed, {}});
    return;
  }
  out_.assign(bytes.start, bytes.size);
  pn_connection_driver_write_done(&driver_, bytes.size);
  writing_ = true;
  stream_.async_write(
      out_, [self = shared_from_this()](Error error, std::size_t) { self->on_written(error); });
}

void AmqpConnection::on_written(Error error) {
  writing_ = false;
  if (stage_ == Stage::closed) return;
  if (error) return fail(HttpFailureKind::closed, error.message());
  pump();
}

void AmqpConnection::read() {
  stream_.async_read_some(in_, [self = shared_from_this()](Error error, std::size_t count) {
    self->on_read(error, count);
  });
}

void AmqpConnection::on_read(Error error, std::size_t count) {
  if (stage_ == Stage::closed) return;
  if (error) {
    return fail(HttpFailureKind::closed,
                error == boost::asio::error::eof ? "the broker closed it" : error.message());
  }
  std::size_t taken = 0;
  while (taken < count) {
    const pn_rwbytes_t room = pn_connection_driver_read_buffer(&driver_);
    if (room.size == 0) break;  // it listens no more; the events say why
    const std::size_t part = std::min(room.size, count - taken);
    std::memcpy(room.start, in_.data() + taken, part);
    pn_connection_driver_read_done(&driver_, part);
    taken += part;
    pump();
    if (stage_ == Stage::closed) return;
  }
  read();
}

void AmqpConnection::handle(pn_event_t* event) {
  const pn_event_type_t type = pn_event_type(event);
  switch (type) {
    case PN_CONNECTION_REMOTE_OPEN:
      return on_open();
    case PN_LINK_FLOW:
    case PN_LINK_REMOTE_DETACH:
    case PN_LINK_REMOTE_CLOSE:
      return handle_link(type, pn_event_link(event));
    case PN_DELIVERY: {
      pn_link_t* link = pn_event_link(event);
      if (tokens_->owns(link)) return tokens_->on_delivery(pn_event_delivery(event));
      if (auto* sender = static_cast<AmqpSender*>(pn_link_get_context(link))) {
        sender->on_delivery(pn_event_delivery(event));
      }
      return;
    }
    case PN_SESSION_REMOTE_CLOSE:
      return end(refusal_of("Closed", pn_session_remote_condition(session_)));
    case PN_CONNECTION_REMOTE_CLOSE:
      return end(refusal_of("Closed", pn_connection_remote_condition(driver_.connection)));
    case PN_TRANSPORT_ERROR:
      return on_transport_error();
    case PN_TRANSPORT_CLOSED:
      return fail(HttpFailureKind::closed, {});
    default:
      return;
  }
}

void AmqpConnection::handle_link(pn_event_type_t type, pn_link_t* link) {
  if (type != PN_LINK_FLOW) return on_link_closed(link);
  if (tokens_->owns(link)) return tokens_->on_flow();
  if (auto* sender = static_cast<AmqpSender*>(pn_link_get_context(link))) sender->on_flow();
}

void AmqpConnection::on_open() {
  enter(Stage::open, {});
  was_open_ = true;
  peer_.on_open();
  for (auto& [address, sender] : senders_) sender->start();
}

void AmqpConnection::on_link_closed(pn_link_t* link) {
  const AmqpRefusal refusal = refusal_of("Detached", pn_link_remote_condition(link));
  if (tokens_->owns(link)) return tokens_->on_closed(refusal);
  if (auto* sender = static_cast<AmqpSender*>(pn_link_get_context(link))) {
    sender->end(refusal);
  }
}

void AmqpConnection::on_transport_error() {
  AmqpRefusal refusal = refusal_of("Unauthorized", pn_transport_condition(driver_.transport));
  if (refusal.condition == kUnauthorized) return end(refusal);
  const bool ours = refusal.condition == "amqp:resource-limit-exceeded";
  fail(ours ? HttpFailureKind::closed : HttpFailureKind::protocol, std::move(refusal.description));
}

void AmqpConnection::on_token(const std::string& address,
                              const std::optional<AmqpRefusal>& refusal) {
  const auto sender = senders_.find(address);
  if (sender != senders_.end()) sender->second->on_token(refusal);
}

void AmqpConnection::check_deadlines(SteadyTime now) {
  const auto self = shared_from_this();
  if (stage_ == Stage::closed) return;
  for (auto& [address, sender] : senders_) sender->check_deadlines(now);
  if (stage_ != Stage::open && now >= stage_deadline_) expire_stage();
  if (session_ == nullptr || stage_ == Stage::closed) return;
  pn_transport_tick(driver_.transport, milliseconds_of(now));
  close_if_idle(now);
  pump();
}

void AmqpConnection::forget_ended_senders() {
  std::erase_if(senders_, [](const auto& entry) { return entry.second->ended(); });
}

void AmqpConnection::close_if_idle(SteadyTime now) {
  if (!senders_.empty()) used_ = now;
  if (closing_ || stage_ != Stage::open || now - used_ < limits().idle_timeout) return;
  closing_ = true;
  pn_connection_close(driver_.connection);
}

void AmqpConnection::end(const AmqpOutcome& why) {
  if (stage_ == Stage::closed) return;
  const auto self = shared_from_this();
  stage_ = Stage::closed;
  stream_.close();
  peer_.on_ended(was_open_);
  for (auto& [address, sender] : senders_) sender->end(why);
}

}  // namespace belfry
