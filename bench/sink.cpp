// SPDX-License-Identifier: MIT
//
// A target that costs next to nothing: one thread, raw epoll, every request answered with the
// same 200. Writes down, for `x-ms-scheduler-expected-execution-time`, how late each came.
//
// sink: prints its port; on end of standard input prints one JSON line and ends.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
constexpr std::string_view kExpected = "x-ms-scheduler-expected-execution-time: ";

double now_seconds() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// "2030-01-01T00:00:00.1234567" in UTC; 0 when there is none.
double expected_in(std::string_view head) {
  const auto at = head.find(kExpected);
  if (at == std::string_view::npos) return 0;
  const std::string text(head.substr(at + kExpected.size(), 40));
  tm date{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr) return 0;
  const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
  return static_cast<double>(timegm(&date)) + fraction;
}

struct Seen {
  std::vector<double> late_seconds;
  double first = 0;
  double last = 0;
  long count = 0;
};

// How many bytes the first complete request in the text takes; 0 when it is not all there.
std::size_t request_length(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const auto length_at = text.substr(0, end).find("Content-Length: ");
  std::size_t body = 0;
  if (length_at != std::string_view::npos) {
    body = std::strtoul(text.data() + length_at + 16, nullptr, 10);
  }
  return text.size() >= end + 4 + body ? end + 4 + body : 0;
}

void note(Seen& seen, std::string_view request) {
  const double now = now_seconds();
  if (seen.count++ == 0) seen.first = now;
  seen.last = now;
  if (const double expected = expected_in(request); expected > 0) {
    seen.late_seconds.push_back(now - expected);
  }
}

void serve(int fd, std::unordered_map<int, std::string>& pending, Seen& seen) {
  char bytes[65536];
  const ssize_t count = read(fd, bytes, sizeof(bytes));
  if (count <= 0) {
    close(fd);
    pending.erase(fd);
    return;
  }
  std::string& text = pending[fd];
  text.append(bytes, static_cast<std::size_t>(count));
  std::string answers;
  while (const std::size_t length = request_length(text)) {
    note(seen, std::string_view(text).substr(0, length));
    text.erase(0, length);
    answers += kAnswer;
  }
  if (!answers.empty() && write(fd, answers.data(), answers.size()) < 0) close(fd);
}

void print(Seen& seen) {
  std::sort(seen.late_seconds.begin(), seen.late_seconds.end());
  const auto quantile = [&](double q) {
    if (seen.late_seconds.empty()) return 0.0;
    const auto last = static_cast<double>(seen.late_seconds.size() - 1);
    return seen.late_seconds[static_cast<std::size_t>(q * last)] * 1000;
  };
  fmt::print(
      "{{\"count\":{},\"first\":{:.6f},\"last\":{:.6f},\"early\":{},\"late_ms_p50\":{:.3f},"
      "\"late_ms_p99\":{:.3f},\"late_ms_max\":{:.3f}}}\n",
      seen.count, seen.first, seen.last,
      std::count_if(seen.late_seconds.begin(), seen.late_seconds.end(),
                    [](double late) { return late < 0; }),
      quantile(0.5), quantile(0.99), quantile(1));
}

void watch(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

int main() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) return 1;
  listen(listener, 1024);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  fmt::print("{}\n", ntohs(address.sin_port));
  std::fflush(stdout);

  const int poll = epoll_create1(0);
  watch(poll, listener);
  watch(poll, STDIN_FILENO);
  std::unordered_map<int, std::string> pending;
  Seen seen;
  while (true) {
    epoll_event events[256];
    const int count = epoll_wait(poll, events, 256, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == STDIN_FILENO) {
        print(seen);
        return 0;
      }
      if (fd == listener) {
        const int accepted = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        const int on = 1;
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        watch(poll, accepted);
      } else {
        serve(fd, pending, seen);
      }
    }
  }
}
