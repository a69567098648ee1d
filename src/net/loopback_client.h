// SPDX-License-Identifier: MIT
//
// For tests: a client that sends exactly the bytes it is told to, over a plain blocking socket and
// perhaps TLS, and so can be as rude as any on the Internet. Waiting ends after kPatience: a test
// that would hang fails instead.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/instant.h"

namespace belfry {

struct Answer {
  int status = 0;  // 0: none came
  std::string head;
  std::string body;

  bool has(std::string_view line) const { return head.find(line) != std::string::npos; }
};

class LoopbackClient {
 public:
  static constexpr Millis kPatience{20'000};

  explicit LoopbackClient(std::uint16_t port) : LoopbackClient(Family::ipv4) { connect(port); }

  static LoopbackClient unconnected() { return LoopbackClient(Family::ipv4); }

  static LoopbackClient over_ipv6(std::uint16_t port) {
    LoopbackClient client(Family::ipv6);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    client.connect_to(address);
    return client;
  }

  LoopbackClient(LoopbackClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        tls_(std::exchange(other.tls_, nullptr)),
        connected_(other.connected_),
        received_(std::move(other.received_)) {}
  ~LoopbackClient() {
    SSL_free(tls_);
    close();
  }

  bool connect(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to(address);
  }

  bool connected() const { return connected_; }

  // Speaks TLS from now on; false when the handshake fails. That the server wants another
  // certificate shows with TLS 1.3 only at the first answer.
  bool secure(SSL_CTX* context) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the server has closed
    tls_ = SSL_new(context);
    SSL_set_fd(tls_, socket_);
    return SSL_connect(tls_) == 1;
  }
  const SSL* session() const { return tls_; }

  // False when the server has closed the connection before it took everything.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = write(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next answer; `for_head` when the request was HEAD, whose answer has no body.
  Answer answer(bool for_head = false) {
    Answer answer;
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return answer;
    }
    answer.head = take(received_.find("\r\n\r\n") + 4);
    answer.status = std::atoi(answer.head.substr(9, 3).c_str());
    const std::size_t length = for_head ? 0 : length_in(answer.head);
    while (received_.size() < length) {
      if (!receive()) return answer;
    }
    answer.body = take(length);
    return answer;
  }

  Answer ask(std::string_view request) {
    send(request);
    return answer();
  }

  // Everything until the server closes the connection.
  std::string rest() {
    while (receive()) {
    }
    return take(received_.size());
  }

  // The server closes the connection and says nothing more.
  bool closed() { return rest().empty() && ended_; }

  // Something has come, or comes within that time.
  bool readable(Millis within) {
    pollfd wanted{socket_, POLLIN, 0};
    return ::poll(&wanted, 1, static_cast<int>(within.count())) == 1;
  }

  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  // Closes so that the server sees a reset, not an orderly end.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  enum class Family : int { ipv4 = AF_INET, ipv6 = AF_INET6 };
  explicit LoopbackClient(Family family)
      : socket_(::socket(static_cast<int>(family), SOCK_STREAM, 0)) {}

  template <typename Address>
  bool connect_to(const Address& address) {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return connected_ = ::connect(socket_, generic, sizeof address) == 0;
  }

  ssize_t write(std::string_view bytes) {
    if (tls_ != nullptr) return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  ssize_t read(char* room, std::size_t size) {
    if (tls_ != nullptr) return SSL_read(tls_, room, static_cast<int>(size));
    return ::recv(socket_, room, size, 0);
  }

  bool receive() {
    const bool decrypted = tls_ != nullptr && SSL_pending(tls_) > 0;
    if (!decrypted && !readable(kPatience)) return false;
    std::array<char, 64 * 1024> bytes;
    const ssize_t count = read(bytes.data(), bytes.size());
    ended_ = count <= 0;
    if (count > 0) received_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  std::string take(std::size_t count) {
    std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  static std::size_t length_in(std::string_view head) {
    constexpr std::string_view kName = "Content-Length: ";
    const std::size_t at = head.find(kName);
    if (at == std::string_view::npos) return 0;
    return static_cast<std::size_t>(std::atoll(head.data() + at + kName.size()));
  }

  int socket_;
  SSL* tls_ = nullptr;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

}  // namespace belfry
