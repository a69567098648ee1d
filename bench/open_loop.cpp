// SPDX-License-Identifier: MIT
//
// A client that asks at a rate of its own, whatever it is answered and however late: it stands for
// somebody who does not care. One thread of raw epoll, at the lowest priority, so that of two cores
// little is taken from what is measured.
//
// open_loop PORT PER_SECOND CONNECTIONS < REQUESTS
//
// Standard input has the requests, each with a line before it that says how many bytes it has;
// they are sent in turn. Where PER_SECOND is 0, each connection asks again as soon as it is
// answered. It ends with SIGTERM and prints one JSON line: how much was offered, sent and
// answered, by status, and how often a connection had to be made anew.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr long kTickNanoseconds = 1'000'000;
constexpr double kTicksPerSecond = 1e9 / kTickNanoseconds;
// What a connection has not taken yet; beyond it the server has pushed back, and it is not sent.
constexpr std::size_t kUnsentBytesMax = 16 * 1024;
constexpr std::string_view kStatusLine = "HTTP/1.1 ";

void must(bool done, const char* what) {
  if (done) return;
  std::perror(what);
  std::exit(1);
}

struct Connection {
  int fd = -1;
  std::string unsent;
  std::string unread;  // the end of what came, where a status line may have been cut
};

struct Counts {
  std::int64_t offered = 0;
  std::int64_t sent = 0;
  std::int64_t connects = 0;
  std::map<std::string, std::int64_t> by_status;
};

class OpenLoop {
 public:
  OpenLoop(std::uint16_t port, double per_second, std::size_t connections,
           std::vector<std::string> requests)
      : per_second_(per_second), requests_(std::move(requests)), connections_(connections) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(port);
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    poll_ = epoll_create1(EPOLL_CLOEXEC);
    must(poll_ >= 0, "epoll_create1");
    watch_signals();
    watch_ticks();
    for (std::size_t i = 0; i < connections; ++i) connect(i);
  }

  // Until it is told to end.
  const Counts& run() {
    if (per_second_ == 0) {
      for (std::size_t i = 0; i < connections_.size(); ++i) ask(i);
    }
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        const std::uint64_t whose = events[static_cast<std::size_t>(i)].data.u64;
        if (whose == kSignal) return counts_;
        if (whose == kTick) {
          tick();
        } else {
          serve(whose, events[static_cast<std::size_t>(i)].events);
        }
      }
    }
  }

 private:
  static constexpr std::uint64_t kSignal = ~std::uint64_t{0};
  static constexpr std::uint64_t kTick = kSignal - 1;

  void watch(int fd, std::uint64_t whose, std::uint32_t events) {
    must(fd >= 0, "watch");
    epoll_event event{};
    event.events = events;
    event.data.u64 = whose;
    must(epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  }

  void watch_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    watch(signalfd(-1, &signals, SFD_CLOEXEC), kSignal, EPOLLIN);
  }

  void watch_ticks() {
    ticks_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const itimerspec every{{0, kTickNanoseconds}, {0, kTickNanoseconds}};
    timerfd_settime(ticks_, 0, &every, nullptr);
    watch(ticks_, kTick, EPOLLIN);
  }

  void connect(std::size_t index) {
    Connection& one = connections_[index];
    one = {};
    one.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    must(one.fd >= 0, "socket");
    const int yes = 1;
    setsockopt(one.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // So that what the server does not read is soon not sent either.
    const int small = 4096;
    setsockopt(one.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const int result =
        ::connect(one.fd, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    must(result == 0 || errno == EINPROGRESS, "connect");
    ++counts_.connects;
    watch(one.fd, index, EPOLLIN | EPOLLOUT | EPOLLET);
  }

  void reconnect(std::size_t index) {
    close(connections_[index].fd);
    connect(index);
    if (per_second_ == 0) ask(index);
  }

  // Everything that was due since the last time.
  void tick() {
    std::uint64_t passed = 0;
    if (read(ticks_, &passed, sizeof passed) != sizeof passed) return;
    owed_ += per_second_ * static_cast<double>(passed) / kTicksPerSecond;
    for (; owed_ >= 1; owed_ -= 1) ask(next_connection_++ % connections_.size());
  }

  void ask(std::size_t index) {
    ++counts_.offered;
    Connection& one = connections_[index];
    if (one.unsent.size() > kUnsentBytesMax) return;
    ++counts_.sent;
    one.unsent += requests_[next_request_++ % requests_.size()];
    send_unsent(one);
  }

  static void send_unsent(Connection& one) {
    while (!one.unsent.empty()) {
      const ssize_t sent = send(one.fd, one.unsent.data(), one.unsent.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      one.unsent.erase(0, static_cast<std::size_t>(sent));
    }
  }

  void serve(std::size_t index, std::uint32_t events) {
    if (events & EPOLLOUT) send_unsent(connections_[index]);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(index);
  }

  void receive(std::size_t index) {
    std::array<char, 16 * 1024> bytes;
    while (true) {
      const ssize_t got = recv(connections_[index].fd, bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return reconnect(index);
      note(index, {bytes.data(), static_cast<std::size_t>(got)});
    }
  }

  // Bodies are JSON of ours, and have no status line in them.
  void note(std::size_t index, std::string_view bytes) {
    Connection& one = connections_[index];
    one.unread += bytes;
    std::size_t from = 0;
    for (auto at = one.unread.find(kStatusLine); at != std::string::npos;
         at = one.unread.find(kStatusLine, from)) {
      const std::size_t end = at + kStatusLine.size() + 3;
      if (end > one.unread.size()) break;
      ++counts_.by_status[one.unread.substr(end - 3, 3)];
      from = end;
      if (per_second_ == 0) ask(index);
    }
    const std::size_t kept = std::min(one.unread.size() - from, kStatusLine.size() + 3);
    one.unread.erase(0, one.unread.size() - kept);
  }

  const double per_second_;
  const std::vector<std::string> requests_;
  sockaddr_in address_{};
  int poll_ = -1;
  int ticks_ = -1;
  std::vector<Connection> connections_;
  std::size_t next_connection_ = 0;
  std::size_t next_request_ = 0;
  double owed_ = 0;
  Counts counts_;
};

std::vector<std::string> read_requests() {
  std::vector<std::string> requests;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string request(std::stoul(line), '\0');
    std::cin.read(request.data(), static_cast<std::streamsize>(request.size()));
    requests.push_back(std::move(request));
  }
  return requests;
}

void print(const Counts& counts) {
  fmt::print("{{\"offered\":{},\"sent\":{},\"connects\":{},\"answered\":{{", counts.offered,
             counts.sent, counts.connects);
  std::string_view comma;
  for (const auto& [status, count] : counts.by_status) {
    fmt::print("{}\"{}\":{}", comma, status, count);
    comma = ",";
  }
  fmt::print("}}}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("open_loop PORT PER_SECOND CONNECTIONS\n", stderr), 2;
  setpriority(PRIO_PROCESS, 0, 19);
  OpenLoop loop(static_cast<std::uint16_t>(std::atoi(argv[1])), std::atof(argv[2]),
                static_cast<std::size_t>(std::atoi(argv[3])), read_requests());
  print(loop.run());
}
