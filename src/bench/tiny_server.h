// SPDX-License-Identifier: MIT
//
// TinyServer is the cheapest HTTP server that can be on the other side of a measurement: one
// thread, raw epoll, every request answered with the same bytes. It takes whole rounds: all
// requests that have arrived are shown together, then all are answered, so that whoever records
// them can do it in one transaction.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace belfry {

class TinyServer {
 public:
  // The requests of one round, head and body; they are gone when it returns.
  using Take = std::function<void(const std::vector<std::string_view>&)>;

  explicit TinyServer(Take take, std::string answer = kOk);
  ~TinyServer();
  TinyServer(const TinyServer&) = delete;
  TinyServer& operator=(const TinyServer&) = delete;

  std::uint16_t port() const { return port_; }  // on 127.0.0.1

  // Serves until stop() is called, from any thread.
  void run();
  void stop();

  static constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

 private:
  struct Round {
    std::vector<std::string_view> requests;
    std::vector<std::pair<int, std::size_t>> bytes_used;  // of which connection's input
  };

  void watch(int fd);
  void accept_one();
  bool receive(int fd);
  void split(int fd, Round& round) const;
  void answer(const Round& round);
  void hang_up(int fd);

  Take take_;
  std::string answer_;
  int listener_ = -1;
  int poll_ = -1;
  int stop_ = -1;  // an eventfd
  std::uint16_t port_ = 0;
  std::unordered_map<int, std::string> inputs_;  // by connection; what is not yet a request
};

// How many bytes the first complete HTTP message in the text takes; 0 when it is not all there.
// Bodies have a Content-Length.
std::size_t message_length(std::string_view text);

}  // namespace belfry
