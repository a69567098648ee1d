// SPDX-License-Identifier: MIT
//
// AmqpConnection is one connection to one broker, and its links. It is dialled once, perhaps
// after a while, and ends once: then everything on it fails with the reason. Proton turns the
// bytes that we read into events, and what we do with them into bytes that we write; it
// touches no socket. Lives on its loop's thread and is touched by no other.

#pragma once

#include <proton/connection_driver.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/amqp_exchange.h"
#include "net/amqp_sender.h"
#include "net/amqp_tokens.h"
#include "net/http_client_stream.h"

namespace belfry {

class AmqpPeer;

class AmqpConnection : public std::enable_shared_from_this<AmqpConnection> {
 public:
  explicit AmqpConnection(AmqpPeer& peer);
  ~AmqpConnection();
  AmqpConnection(const AmqpConnection&) = delete;
  AmqpConnection& operator=(const AmqpConnection&) = delete;

  void dial_at(SteadyTime when);
  void submit(AmqpExchangePtr exchange);
  void check_deadlines(SteadyTime now);

  // Everything on it fails with this.
  void end(const AmqpOutcome& why);

  // It was idle, and is saying goodbye: nothing more may be submitted.
  bool closing() const { return closing_; }

  // For its senders.
  bool is_open() const { return stage_ == Stage::open; }
  const AmqpBroker& broker() const;
  const AmqpLimits& limits() const;
  pn_session_t* session() { return session_; }
  AmqpTokens& tokens() { return *tokens_; }
  std::string next_link_name();
  void finish(AmqpExchangePtr exchange, const AmqpOutcome& outcome);

 private:
  enum class Stage { waiting, resolving, connecting, handshaking, opening, open, closed };
  using Error = HttpClientStream::Error;

  // How it comes to be (amqp_connection_dial.cpp).
  void dial();
  void resolve();
  void on_resolved(Resolution resolution);
  void dial_checked(const std::vector<IpAddress>& found);
  void connect_next();
  void on_connected(Error error);
  void shake_hands();
  void on_handshake(Error error);
  void expire_stage();
  void enter(Stage stage, SteadyTime deadline);
  void fail(HttpFailureKind kind, std::string detail);

  // How it is spoken over (amqp_connection.cpp).
  void open();
  void pump();
  void write();
  void on_written(Error error);
  void read();
  void on_read(Error error, std::size_t count);
  void handle(pn_event_t* event);
  void handle_link(pn_event_type_t type, pn_link_t* link);
  void on_open();
  void on_link_closed(pn_link_t* link);
  void on_transport_error();
  void on_token(const std::string& address, const std::optional<AmqpRefusal>& refusal);
  void forget_ended_senders();
  void close_if_idle(SteadyTime now);

  AmqpPeer& peer_;
  HttpClientStream stream_;
  Stage stage_ = Stage::waiting;
  SteadyTime stage_deadline_{};
  bool was_open_ = false;
  bool closing_ = false;
  std::vector<IpAddress> addresses_;  // checked, and not dialled yet
  std::string dialled_;               // the last of them
  Millis connect_share_{};            // of the time to connect, for each of them

  pn_connection_driver_t driver_{};
  pn_session_t* session_ = nullptr;
  std::optional<AmqpTokens> tokens_;
  std::map<std::string, std::unique_ptr<AmqpSender>> senders_;  // by address
  std::uint64_t links_ = 0;
  SteadyTime used_{};  // when there was last anything to do
  bool pumping_ = false;
  bool writing_ = false;
  std::string out_;
  std::array<char, 16 * 1024> in_;
};

}  // namespace belfry
