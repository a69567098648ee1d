// SPDX-License-Identifier: MIT

#include "app/notify_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <map>

namespace belfry {
namespace {

// A service manager's end: what was said, without waiting for it.
class Listener {
 public:
  Listener() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // Binding to no name lets the kernel choose one of the abstract namespace.
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
    socklen_t length = sizeof address;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    name_ = "@" + std::string(address.sun_path + 1, length - sizeof(sa_family_t) - 1);
  }
  ~Listener() { ::close(fd_); }

  const std::string& name() const { return name_; }

  std::string heard() const {
    std::array<char, 256> text{};
    const ssize_t length = ::recv(fd_, text.data(), text.size(), 0);
    return length < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(length));
  }

 private:
  int fd_;
  std::string name_;
};

NotifySocket::Environment variables(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(NotifySocket, SaysWhatSystemdUnderstands) {
  const Listener systemd;
  const auto socket = NotifySocket::open(variables({{"NOTIFY_SOCKET", systemd.name()}}));
  ASSERT_TRUE(socket);
  socket->ready();
  EXPECT_EQ(systemd.heard(), "READY=1");
  socket->reloading();
  EXPECT_EQ(systemd.heard(), "RELOADING=1");
  socket->stopping(std::chrono::seconds{30});
  EXPECT_EQ(systemd.heard(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=45000000");
}

// While what is under way is finished nobody beats: the watchdog must wait as long.
TEST(NotifySocket, AStopStretchesTheWatchdog) {
  const Listener systemd;
  const auto socket = NotifySocket::open(
      variables({{"NOTIFY_SOCKET", systemd.name()}, {"WATCHDOG_USEC", "30000000"}}));
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->watchdog(), Millis{30'000});
  socket->stopping(std::chrono::seconds{60});
  EXPECT_EQ(systemd.heard(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=75000000\nWATCHDOG_USEC=75000000");
}

TEST(NotifySocket, IsSilentWhereNobodyListens) {
  const auto socket = NotifySocket::open(variables({{"WATCHDOG_USEC", "1000000"}}));
  ASSERT_TRUE(socket);
  EXPECT_FALSE(socket->watchdog());
  socket->ready();
}

TEST(NotifySocket, RefusesWhatIsNoSocketAndNamesIt) {
  const std::string long_path = "/" + std::string(200, 'x');
  for (const std::string& path : {std::string("relative"), std::string("/no/such"), long_path}) {
    const auto socket = NotifySocket::open(variables({{"NOTIFY_SOCKET", path}}));
    ASSERT_FALSE(socket);
    EXPECT_NE(socket.error().message.find(path), std::string::npos);
  }
}

TEST(NotifySocket, HeedsNoWatchdogOfAnotherProcess) {
  const Listener systemd;
  for (const auto& [process, watched] :
       std::map<std::string, bool>{{"1", false}, {"x", false}, {std::to_string(getpid()), true}}) {
    const auto socket = NotifySocket::open(variables({{"NOTIFY_SOCKET", systemd.name()},
                                                      {"WATCHDOG_USEC", "2000000"},
                                                      {"WATCHDOG_PID", process}}));
    ASSERT_TRUE(socket);
    EXPECT_EQ(socket->watchdog().has_value(), watched) << process;
  }
}

TEST(NotifySocket, SaysThatItLivesToWhoeverWatches) {
  const Listener systemd;
  for (const bool watched : {true, false}) {
    std::map<std::string, std::string> said{{"NOTIFY_SOCKET", systemd.name()}};
    if (watched) said["WATCHDOG_USEC"] = "2000000";
    const auto socket = NotifySocket::open(variables(said));
    ASSERT_TRUE(socket);
    socket->alive();
    EXPECT_EQ(systemd.heard(), watched ? "WATCHDOG=1" : "");
  }
}

}  // namespace
}  // namespace belfry
