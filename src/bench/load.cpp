// SPDX-License-Identifier: MIT

#include "bench/load.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "base/assert.h"
#include "bench/failure.h"
#include "bench/tiny_server.h"

namespace belfry {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kEventsMax = 256;
constexpr std::size_t kReadBytes = 65'536;

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    throw BenchFailure(fmt::format("nobody answers on 127.0.0.1:{}", port));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count <= 0) throw BenchFailure("the server hung up");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Appends what has come.
void receive(int fd, std::string& input) {
  char bytes[kReadBytes];
  const ssize_t count = read(fd, bytes, sizeof(bytes));
  if (count <= 0) throw BenchFailure("the server hung up");
  input.append(bytes, static_cast<std::size_t>(count));
}

int status_of(std::string_view answer) {
  return answer.size() > 12 ? std::atoi(answer.data() + 9) : 0;  // after "HTTP/1.1 "
}

class Load {
 public:
  Load(const LoadOptions& options, const std::function<std::string(std::int64_t)>& request)
      : options_(options), request_(request), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    for (int i = 0; i < options.connections; ++i) {
      const int fd = connect_to(options.port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = fd;
      ASSERT(epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) == 0);
      connections_[fd];
    }
  }

  ~Load() {
    for (const auto& [fd, connection] : connections_) close(fd);
    close(poll_);
  }

  LoadResult run() {
    const auto began = SteadyClock::now();
    until_ = began + options_.duration;
    for (auto& [fd, connection] : connections_) send_next(fd, connection);
    while (open_ > 0) {
      epoll_event events[kEventsMax];
      const int count = epoll_wait(poll_, events, kEventsMax, -1);
      for (int i = 0; i < count; ++i) take(events[i].data.fd);
    }
    result_.seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
    return std::move(result_);
  }

 private:
  struct Connection {
    std::string input;
    SteadyClock::time_point sent;
  };

  bool has_more(SteadyClock::time_point now) const {
    return options_.requests > 0 ? sent_ < options_.requests : now < until_;
  }

  void send_next(int fd, Connection& connection) {
    connection.sent = SteadyClock::now();
    if (!has_more(connection.sent)) return;
    send_all(fd, request_(sent_++));
    ++open_;
  }

  void take(int fd) {
    Connection& connection = connections_.at(fd);
    receive(fd, connection.input);
    if (message_length(connection.input) == 0) return;
    --open_;
    note(connection);
    connection.input.clear();
    send_next(fd, connection);
  }

  void note(const Connection& connection) {
    ++result_.answered;
    result_.bytes += static_cast<std::int64_t>(connection.input.size());
    const std::chrono::duration<double, std::milli> took = SteadyClock::now() - connection.sent;
    result_.latencies_ms.push_back(took.count());
    const int status = status_of(connection.input);
    if (status >= 200 && status < 300) return;
    if (result_.refused++ == 0) result_.first_refusal = connection.input;
  }

  const LoadOptions& options_;
  const std::function<std::string(std::int64_t)>& request_;
  const int poll_;
  std::unordered_map<int, Connection> connections_;
  SteadyClock::time_point until_;
  std::int64_t sent_ = 0;
  std::int64_t open_ = 0;
  LoadResult result_;
};

}  // namespace

LoadResult run_load(const LoadOptions& options,
                    const std::function<std::string(std::int64_t n)>& request) {
  return Load(options, request).run();
}

std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body, const std::string& token) {
  const std::string credentials = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
  return fmt::format(
      "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{}"
      "Content-Length: {}\r\n\r\n{}",
      method, target, credentials, body.size(), body);
}

Answer ask_once(std::uint16_t port, const std::string& request) {
  const int fd = connect_to(port);
  std::string input;
  try {
    send_all(fd, request);
    while (message_length(input) == 0) receive(fd, input);
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
  return {status_of(input), input.substr(input.find("\r\n\r\n") + 4)};
}

}  // namespace belfry
