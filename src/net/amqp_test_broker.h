// SPDX-License-Identifier: MIT
//
// For tests: a broker of AMQP 1.0 on a port of its own, one connection at a time, spoken by
// Proton in the server's role over a blocking socket. It does what it is told to with every
// message, and takes every token or none.

#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/connection_driver.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/message.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/terminus.h>
#include <proton/transport.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/amqp_message.h"

namespace belfry {

class AmqpTestBroker {
 public:
  enum class Does { accept, reject, release, modify, say_nothing, give_no_credit, refuse_link };

  struct Options {
    Does does = Does::accept;
    bool takes_tokens = true;
  };

  explicit AmqpTestBroker(Options options) : options_(options) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  ~AmqpTestBroker() {
    ::shutdown(listener_, SHUT_RDWR);
    drop_connection();
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }
  int messages() const { return messages_; }
  int tokens() const { return tokens_; }
  int goodbyes() const { return goodbyes_; }

  // The bytes of the messages, in the order in which they came.
  std::vector<std::string> received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }

  // As if the power had gone.
  void drop_connection() { ::shutdown(connection_, SHUT_RDWR); }

 private:
  void serve() {
    while (true) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      connection_ = socket;
      ++connections_;
      talk(socket);
      connection_ = -1;
      ::close(socket);
    }
  }

  void talk(int socket) {
    pn_connection_driver_t driver{};
    pn_connection_driver_init(&driver, nullptr, nullptr);
    pn_transport_set_server(driver.transport);
    pn_sasl_t* sasl = pn_sasl(driver.transport);
    pn_sasl_allowed_mechs(sasl, "ANONYMOUS");
    replies_ = nullptr;
    while (!pn_connection_driver_finished(&driver)) {
      while (pn_event_t* event = pn_connection_driver_next_event(&driver)) handle(event);
      if (write(socket, driver)) continue;
      if (!read(socket, driver)) break;
    }
    pn_connection_driver_destroy(&driver);
  }

  static bool write(int socket, pn_connection_driver_t& driver) {
    const pn_bytes_t bytes = pn_connection_driver_write_buffer(&driver);
    if (bytes.size == 0) return false;
    const ssize_t count = ::send(socket, bytes.start, bytes.size, MSG_NOSIGNAL);
    if (count <= 0) return false;
    pn_connection_driver_write_done(&driver, static_cast<std::size_t>(count));
    return true;
  }

  static bool read(int socket, pn_connection_driver_t& driver) {
    const pn_rwbytes_t room = pn_connection_driver_read_buffer(&driver);
    if (room.size == 0) return false;
    const ssize_t count = ::recv(socket, room.start, room.size, 0);
    if (count <= 0) return false;
    pn_connection_driver_read_done(&driver, static_cast<std::size_t>(count));
    return true;
  }

  void handle(pn_event_t* event) {
    switch (pn_event_type(event)) {
      case PN_CONNECTION_REMOTE_OPEN:
        return pn_connection_open(pn_event_connection(event));
      case PN_SESSION_REMOTE_OPEN:
        return pn_session_open(pn_event_session(event));
      case PN_LINK_REMOTE_OPEN:
        return open_link(pn_event_link(event));
      case PN_DELIVERY:
        return on_delivery(pn_event_delivery(event));
      case PN_CONNECTION_REMOTE_CLOSE:
        ++goodbyes_;
        return pn_connection_close(pn_event_connection(event));
      default:
        return;
    }
  }

  void open_link(pn_link_t* link) {
    pn_terminus_copy(pn_link_source(link), pn_link_remote_source(link));
    pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
    pn_link_open(link);
    if (pn_link_is_sender(link)) {
      replies_ = link;
    } else if (!is_cbs(link) && options_.does == Does::refuse_link) {
      pn_condition_set_name(pn_link_condition(link), "amqp:not-found");
      pn_condition_set_description(pn_link_condition(link), "no such queue");
      pn_link_close(link);
    } else if (is_cbs(link) || options_.does != Does::give_no_credit) {
      pn_link_flow(link, 1000);
    }
  }

  static bool is_cbs(pn_link_t* link) {
    const char* address = pn_terminus_get_address(pn_link_remote_target(link));
    return address != nullptr && std::string(address) == "$cbs";
  }

  void on_delivery(pn_delivery_t* delivery) {
    pn_link_t* link = pn_delivery_link(delivery);
    if (pn_link_is_sender(link) || !pn_delivery_readable(delivery) ||
        pn_delivery_partial(delivery)) {
      return;
    }
    std::string bytes(pn_delivery_pending(delivery), '\0');
    pn_link_recv(link, bytes.data(), bytes.size());
    pn_link_advance(link);
    if (is_cbs(link)) return answer_token(delivery, bytes);
    {
      const std::lock_guard lock(mutex_);
      received_.push_back(std::move(bytes));
    }
    ++messages_;
    judge(delivery);
  }

  void judge(pn_delivery_t* delivery) {
    switch (options_.does) {
      case Does::accept:
        pn_delivery_update(delivery, PN_ACCEPTED);
        return pn_delivery_settle(delivery);
      case Does::reject:
        pn_condition_set_name(pn_disposition_condition(pn_delivery_local(delivery)), "test:no");
        pn_delivery_update(delivery, PN_REJECTED);
        return pn_delivery_settle(delivery);
      case Does::release:
        pn_delivery_update(delivery, PN_RELEASED);
        return pn_delivery_settle(delivery);
      case Does::modify:
        pn_delivery_update(delivery, PN_MODIFIED);
        return pn_delivery_settle(delivery);
      default:
        return;
    }
  }

  void answer_token(pn_delivery_t* delivery, const std::string& request) {
    pn_delivery_update(delivery, PN_ACCEPTED);
    pn_delivery_settle(delivery);
    pn_message_t* message = pn_message();
    pn_message_decode(message, request.data(), request.size());
    const pn_atom_t id = pn_message_get_id(message);
    AmqpMessage answer;
    answer.correlation_id = std::string(id.u.as_bytes.start, id.u.as_bytes.size);
    answer.properties = {{"status-code", std::int64_t{options_.takes_tokens ? 202 : 401}},
                         {"status-description", std::string("said the broker")}};
    pn_message_free(message);
    const std::string bytes = encode_amqp_message(answer);
    const std::string tag = std::to_string(++tokens_);
    pn_delivery(replies_, pn_dtag(tag.data(), tag.size()));
    pn_link_send(replies_, bytes.data(), bytes.size());
    pn_link_advance(replies_);
  }

  const Options options_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connection_{-1};
  std::atomic<int> connections_{0};
  std::atomic<int> messages_{0};
  std::atomic<int> tokens_{0};
  std::atomic<int> goodbyes_{0};
  pn_link_t* replies_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<std::string> received_;
  std::thread thread_;
};

}  // namespace belfry
