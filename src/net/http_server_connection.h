// SPDX-License-Identifier: MIT
//
// HttpServerConnection serves one client: it reads a request, has it answered, writes the answer,
// and only then looks for the next request, so that pipelined ones are answered in order and
// no client makes us hold more than one of its requests.
//
// At any time at most one read or write and one timer are under way. All members but
// deliver() are called on the loop's thread.

#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "net/http.h"
#include "net/http_request_head.h"
#include "net/http_request_reader.h"
#include "net/http_server_loop.h"
#include "net/http_server_stream.h"

namespace belfry {

class HttpServerConnection : public std::enable_shared_from_this<HttpServerConnection> {
 public:
  HttpServerConnection(std::shared_ptr<HttpServerLoop> loop, HttpServerStream stream,
                       std::string remote_address);

  void start();
  void start_turned_away();  // there are too many connections: the answer is 503
  void drain();  // closes the connection if it is idle; else its next answer is the last
  void close();

  // Since when its next request is awaited.
  std::chrono::steady_clock::time_point waiting_since() const { return waiting_since_; }

  // From any thread: the handler's answer, or nothing when the handler has dropped the request.
  // Harmless when the connection is no longer waiting for it.
  void deliver(std::optional<HttpResponse> response);

 private:
  using ErrorCode = boost::system::error_code;
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Phase {
    starting,
    handshake,
    idle,
    head,
    body,
    handling,
    writing,
    pausing,  // the client was told to come back later, and is not listened to meanwhile
    lingering,
    closed
  };
  static Phase phase_of(HttpRequestReader::Phase phase);

  void shake_hands();
  void on_handshake(ErrorCode error);
  void begin();
  void await_request();
  void stop_awaiting();
  bool hold(std::size_t request_bytes);
  bool make_room(std::size_t request_bytes);
  bool hold_answer(std::size_t bytes);
  void advance();
  void await_bytes();
  void on_bytes(ErrorCode error, std::size_t count);
  void send_continue();
  void look_at_head();
  std::string remote_address_of(const HttpRequest& request) const;
  void turn_away(HttpResponse response);
  void handle();
  void note_framing(const HttpRequestHead& head);

  void answer(std::optional<HttpResponse> response);
  void refuse(const HttpRefusal& refusal);
  HttpResponse refusal_of(const HttpRefusal& refusal) const;
  HttpRefusal too_many_request_bytes() const;
  HttpRefusal too_late() const;
  void write(HttpResponse response);
  std::string_view connection_header() const;
  void on_written(ErrorCode error);

  void linger();
  void discard_bytes();
  void on_discarded(ErrorCode error, std::size_t count);

  void enter(Phase phase);
  std::optional<Millis> timeout_of(Phase phase) const;
  void set_deadline(TimePoint deadline);
  void arm_timer();
  void on_timer();
  void on_deadline();

  const HttpServer::Options& options() const { return loop_->serving().options; }

  // First, hence destroyed last: the stream and the timer live in the loop's io_context.
  std::shared_ptr<HttpServerLoop> loop_;
  HttpServerStream stream_;
  LoopTimer timer_;
  TimePoint deadline_ = TimePoint::max();      // when the phase has taken too long
  TimePoint timer_expiry_ = TimePoint::max();  // max: no timer is under way
  bool timed_out_ = false;

  HttpRequestReader reader_;
  std::string remote_address_;
  Phase phase_ = Phase::starting;
  bool turned_away_ = false;
  bool keep_alive_ = true;
  bool http_1_0_ = false;
  bool head_only_ = false;

  // A connection whose request is awaited has a place among the others of its loop.
  std::optional<HttpServerLoop::Waiting::iterator> place_;
  TimePoint waiting_since_{};
  std::size_t request_bytes_ = 0;  // what it holds of what all may hold together
  std::size_t answer_bytes_ = 0;
  bool throttled_ = false;

  std::string out_head_;
  std::string out_body_;
  std::size_t discarded_bytes_ = 0;
};

}  // namespace belfry
