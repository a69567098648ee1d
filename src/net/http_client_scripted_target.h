// SPDX-License-Identifier: MIT
//
// For tests: a server on a free port of a loopback address that does byte for byte what its
// script says, over blocking sockets and perhaps TLS, and so can be as broken as any on the
// Internet. Its end ends every conversation.

#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace belfry {

class Conversation {
 public:
  Conversation(int socket, std::size_t order, SSL_CTX* tls) : number(order), socket_(socket) {
    if (tls == nullptr) return;
    tls_ = SSL_new(tls);
    SSL_set_fd(tls_, socket_);
    broken_ = SSL_accept(tls_) != 1;
  }
  ~Conversation() { SSL_free(tls_); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  const std::size_t number;  // from 0, in the order of their arrival

  // The next request, head and body; empty when the client has gone.
  std::string request() {
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return {};
    }
    const std::size_t size = received_.find("\r\n\r\n") + 4 + body_length();
    while (received_.size() < size) {
      if (!receive()) return {};
    }
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty() && !broken_) {
      const auto sent = write(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return !broken_;
  }

  // Each byte in a packet of its own, as far as the kernel allows.
  void send_bytewise(std::string_view bytes) {
    for (const char& byte : bytes) send({&byte, 1});
  }

  void answer(std::string_view body = "", std::string_view head = "HTTP/1.1 200 OK") {
    send(std::string(head) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body));
  }

  // Until the client, or the end of the test, closes the connection.
  void hang() {
    while (receive()) {
    }
  }

  // Bytes go to and fro between the client and a port of this machine until one of them ends.
  void tunnel_to(std::uint16_t port) {
    const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(other, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      std::array<pollfd, 2> ends{pollfd{socket_, POLLIN, 0}, pollfd{other, POLLIN, 0}};
      while (::poll(ends.data(), ends.size(), -1) > 0) {
        if (ends[0].revents != 0 && !move_bytes(socket_, other)) break;
        if (ends[1].revents != 0 && !move_bytes(other, socket_)) break;
      }
    }
    ::close(other);
  }

  // The client sees a reset instead of an orderly end.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  std::size_t body_length() const {
    constexpr std::string_view kName = "Content-Length: ";
    const std::size_t at = received_.find(kName);
    if (at == std::string::npos) return 0;
    return static_cast<std::size_t>(std::atoll(received_.c_str() + at + kName.size()));
  }

  static bool move_bytes(int from, int to) {
    std::array<char, 16 * 1024> bytes;
    const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    return ::send(to, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
  }

  ssize_t write(std::string_view bytes) {
    if (tls_ != nullptr) return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  bool receive() {
    if (broken_) return false;
    std::array<char, 16 * 1024> bytes;
    const ssize_t count = tls_ != nullptr ? SSL_read(tls_, bytes.data(), bytes.size())
                                          : ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (count > 0) received_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  int socket_;
  SSL* tls_ = nullptr;
  bool broken_ = false;
  std::string received_;
};

class ScriptedTarget {
 public:
  using Script = std::function<void(Conversation&)>;

  struct Place {
    const char* address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any
    SSL_CTX* tls = nullptr;
  };

  explicit ScriptedTarget(Script script) : ScriptedTarget(std::move(script), Place{}) {}

  ScriptedTarget(Script script, Place place) : script_(std::move(script)), tls_(place.tls) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the client has closed
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(place.port);
    ::inet_pton(AF_INET, place.address, &address.sin_addr);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 128), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, generic, &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~ScriptedTarget() {
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);  // wakes the acceptor
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_; }

 private:
  void accept_all() {
    while (true) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0 && errno == EMFILE && !ending_) continue;  // a test took them all for a while
      if (socket < 0 || ending_) {
        if (socket >= 0) ::close(socket);
        return;
      }
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(socket);
      }
      threads_.emplace_back([this, socket, number = connections_++] { converse(socket, number); });
    }
  }

  void converse(int socket, std::size_t number) {
    {
      Conversation conversation(socket, number, tls_);
      script_(conversation);
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, socket);
    ::close(socket);
  }

  Script script_;
  SSL_CTX* tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;  // of the acceptor, until it is joined
  std::thread acceptor_;
};

}  // namespace belfry
