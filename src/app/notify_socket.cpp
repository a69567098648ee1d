// SPDX-License-Identifier: MIT

#include "app/notify_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>

namespace belfry {
namespace {

// Beyond the grace, for what a stop does besides waiting.
constexpr Millis kStopMargin = std::chrono::seconds{15};

std::optional<std::int64_t> number_in(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number <= 0) return std::nullopt;
  return number;
}

// None: nobody watches, or somebody watches another process.
std::optional<Millis> watchdog_in(const NotifySocket::Environment& environment) {
  const auto process = environment("WATCHDOG_PID");
  if (process && number_in(process) != ::getpid()) return std::nullopt;
  const auto micros = number_in(environment("WATCHDOG_USEC"));
  if (!micros) return std::nullopt;
  return std::max(Millis{1}, Millis{*micros / 1000});
}

Error cannot_notify(const std::string& path, std::string_view why) {
  return {ErrorCode::unavailable,
          fmt::format("NOTIFY_SOCKET names '{}', which cannot be used: {}.", path, why),
          {}};
}

Result<int> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool named = path.starts_with('/') || path.starts_with('@');
  if (!named || path.size() >= sizeof address.sun_path) {
    return cannot_notify(path, "it is no path of a socket");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return cannot_notify(path, std::strerror(errno));
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  const int fault = errno;
  ::close(fd);
  return cannot_notify(path, std::strerror(fault));
}

}  // namespace

Result<NotifySocket> NotifySocket::open(const Environment& environment) {
  NotifySocket socket;
  const auto path = environment("NOTIFY_SOCKET");
  if (!path || path->empty()) return socket;
  TRY_ASSIGN(socket.fd_, connect_to(*path));
  socket.watchdog_ = watchdog_in(environment);
  return socket;
}

NotifySocket::NotifySocket(NotifySocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), watchdog_(other.watchdog_) {}

NotifySocket& NotifySocket::operator=(NotifySocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(watchdog_, other.watchdog_);
  return *this;
}

NotifySocket::~NotifySocket() {
  if (fd_ >= 0) ::close(fd_);
}

void NotifySocket::ready() const {
  say("READY=1");
}

void NotifySocket::reloading() const {
  say("RELOADING=1");
}

void NotifySocket::stopping(Millis grace) const {
  const std::int64_t micros = std::chrono::microseconds(grace + kStopMargin).count();
  std::string state = fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}", micros);
  // Nobody says alive() once the engine has ended.
  if (watchdog_) state += fmt::format("\nWATCHDOG_USEC={}", micros);
  say(state);
}

void NotifySocket::alive() const {
  if (watchdog_) say("WATCHDOG=1");
}

// A word that cannot be sent is lost: the service manager then acts as it does on silence.
void NotifySocket::say(std::string_view state) const {
  if (fd_ >= 0) static_cast<void>(::send(fd_, state.data(), state.size(), MSG_NOSIGNAL));
}

}  // namespace belfry
