// SPDX-License-Identifier: MIT
//
// HttpClientConnection is one connection to one origin, perhaps through a proxy: it is dialled
// for a call, carries it, and may carry others after it. It lives on its loop's thread and is
// touched by no other.
//
// A read is under way from the handshake to the end, also while it is idle: so it learns at
// once when the server closes it.

#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http_client_exchange.h"
#include "net/http_client_response.h"
#include "net/http_client_stream.h"

namespace belfry {

class HttpOriginPool;

class HttpClientConnection : public std::enable_shared_from_this<HttpClientConnection> {
 public:
  HttpClientConnection(HttpOriginPool& pool, boost::asio::io_context& context)
      : pool_(pool), stream_(context) {}

  // Resolve, check, connect, perhaps TLS; then carry it.
  void dial(HttpExchangePtr exchange);

  // Only while idle.
  void carry(HttpExchangePtr exchange);

  void check_deadlines(SteadyTime now);

  // The pool forgets it. Nobody is told of a call that it carried.
  void close();

 private:
  enum class Stage {
    idle,
    resolving,
    resolving_proxy,
    connecting,
    starved,  // of file descriptors; tried again a moment later
    tunnelling,
    handshaking,
    exchanging,
    closed
  };
  using Error = HttpClientStream::Error;

  void resolve(const std::string& host, Stage stage, Millis timeout);
  void on_resolved(Stage asked, Resolution resolution);
  void check(const std::vector<IpAddress>& found);
  void dial_proxy();
  void connect_to(std::vector<IpAddress> addresses);
  void connect_next();
  void on_connected(Error error);
  void starve(const IpAddress& address);
  void fail_to_connect(const std::string& why);
  void open_tunnel();
  void read_tunnel_answer();
  void on_tunnel_answer(Error error, std::size_t count);
  void shake_hands();
  void on_handshake(Error error);
  void finish_probe();
  void expire_stage();

  void begin_exchange();
  void write_rest(std::size_t written);
  void read();
  void on_read(Error error, std::size_t count);
  void on_read_failed(Error error);
  void on_step(HttpResponseReader::Step step);
  void finish();
  HttpOutcome outcome_of(HttpReply reply) const;
  void fail(HttpFailureKind kind, std::string detail);
  void fail(HttpFailure failure);

  void enter(Stage stage, SteadyTime deadline);
  const HttpClientLimits& limits() const;

  HttpOriginPool& pool_;
  HttpClientStream stream_;
  Stage stage_ = Stage::idle;
  SteadyTime stage_deadline_;
  HttpExchangePtr exchange_;
  std::vector<IpAddress> addresses_;  // checked, and not dialled yet
  std::string dialled_;               // the last of them
  Millis connect_share_{};            // of the time to connect, for each of them
  std::optional<HttpResponseReader> reader_;
  std::size_t carried_ = 0;  // calls before this one
  bool writing_ = false;
  std::array<char, 8 * 1024> buffer_;
};

// Why the proxy did not carry a call, from the status that it answered.
std::string refusal_by_proxy(int status);

}  // namespace belfry
