// SPDX-License-Identifier: MIT

#include "bench/tiny_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "base/assert.h"

namespace belfry {
namespace {

constexpr int kEventsMax = 256;
constexpr int kBacklog = 1024;
constexpr std::size_t kReadBytes = 65'536;
constexpr std::string_view kLength = "\r\ncontent-length:";

}  // namespace

std::size_t message_length(std::string_view text) {
  const auto head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  std::size_t body = 0;
  for (auto at = text.find("\r\n"); at < head; at = text.find("\r\n", at + 2)) {
    if (text.size() - at < kLength.size()) break;
    if (strncasecmp(text.data() + at, kLength.data(), kLength.size()) != 0) continue;
    body = std::strtoul(text.data() + at + kLength.size(), nullptr, 10);
    break;
  }
  const std::size_t whole = head + 4 + body;
  return text.size() >= whole ? whole : 0;
}

TinyServer::TinyServer(Take take, std::string answer)
    : take_(std::move(take)), answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  ASSERT(listen(listener_, kBacklog) == 0);
  ASSERT(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  poll_ = epoll_create1(EPOLL_CLOEXEC);
  stop_ = eventfd(0, EFD_CLOEXEC);
  watch(listener_);
  watch(stop_);
}

TinyServer::~TinyServer() {
  for (const auto& [fd, input] : inputs_) close(fd);
  for (const int fd : {listener_, poll_, stop_}) close(fd);
}

void TinyServer::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ASSERT(epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) == 0);
}

void TinyServer::stop() {
  const std::uint64_t one = 1;
  ASSERT(write(stop_, &one, sizeof(one)) == sizeof(one));
}

void TinyServer::run() {
  while (true) {
    epoll_event events[kEventsMax];
    const int count = epoll_wait(poll_, events, kEventsMax, -1);
    Round round;
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == stop_) return;
      if (fd == listener_) {
        accept_one();
      } else if (receive(fd)) {
        split(fd, round);
      }
    }
    if (round.requests.empty()) continue;
    take_(round.requests);
    answer(round);
  }
}

void TinyServer::accept_one() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  inputs_[fd];
  watch(fd);
}

bool TinyServer::receive(int fd) {
  char bytes[kReadBytes];
  const ssize_t count = read(fd, bytes, sizeof(bytes));
  if (count <= 0) {
    hang_up(fd);
    return false;
  }
  inputs_[fd].append(bytes, static_cast<std::size_t>(count));
  return true;
}

void TinyServer::hang_up(int fd) {
  close(fd);
  inputs_.erase(fd);
}

void TinyServer::split(int fd, Round& round) const {
  const std::string& input = inputs_.at(fd);
  std::size_t used = 0;
  while (const std::size_t length = message_length(std::string_view(input).substr(used))) {
    round.requests.push_back(std::string_view(input).substr(used, length));
    used += length;
    round.bytes_used.emplace_back(fd, length);
  }
}

void TinyServer::answer(const Round& round) {
  for (const auto& [fd, length] : round.bytes_used) {
    const auto input = inputs_.find(fd);
    if (input == inputs_.end()) continue;
    input->second.erase(0, length);
    if (write(fd, answer_.data(), answer_.size()) < 0) hang_up(fd);
  }
}

}  // namespace belfry
