// SPDX-License-Identifier: MIT
#include "net/http_server_connection.h"

#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/assert.h"
#include "net/http_answer.h"
#include "net/tls_server.h"

namespace belfry {
namespace {

constexpr std::size_t kLingerBytesMax = 4 * 1024 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
const HttpRefusal kTooManyRequestBytes{
    503, "The requests under way take too much memory. Try again later."};
const HttpRefusal kTooManyAnswerBytes{
    503, "The answers under way take too much memory. Try again later."};

// The handler's side of one request: what Respond holds. Copies of Respond share it, so that
// a second answer is found out, and the last copy to go without an answer gives one.
class Ticket {
 public:
  explicit Ticket(std::weak_ptr<HttpServerConnection> connection)
      : connection_(std::move(connection)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() {
    if (!answered_) deliver({});
  }

  void answer(HttpResponse response) {
    const bool answered_before = answered_.exchange(true);
    ASSERT(!answered_before);
    deliver(std::move(response));
  }

 private:
  void deliver(std::optional<HttpResponse> response) {
    if (const auto connection = connection_.lock()) connection->deliver(std::move(response));
  }

  std::weak_ptr<HttpServerConnection> connection_;
  std::atomic<bool> answered_ = false;
};

}  // namespace

HttpServerConnection::Phase HttpServerConnection::phase_of(HttpRequestReader::Phase phase) {
  switch (phase) {
    case HttpRequestReader::Phase::idle:
      return Phase::idle;
    case HttpRequestReader::Phase::head:
      return Phase::head;
    case HttpRequestReader::Phase::body:
      return Phase::body;
  }
  return Phase::head;
}

HttpServerConnection::HttpServerConnection(std::shared_ptr<HttpServerLoop> loop,
                                           HttpServerStream stream, std::string remote_address)
    : loop_(std::move(loop)),
      stream_(std::move(stream)),
      timer_(loop_->context()),
      reader_(options().limits),
      remote_address_(std::move(remote_address)) {}

void HttpServerConnection::start() {
  if (!turned_away_) await_request();
  if (options().tls) return shake_hands();
  begin();
}

void HttpServerConnection::start_turned_away() {
  turned_away_ = true;
  start();
}

void HttpServerConnection::shake_hands() {
  SSL* session = options().tls->new_session();
  if (session == nullptr) return close();
  enter(Phase::handshake);
  stream_.async_handshake(
      session, [self = shared_from_this()](ErrorCode error) { self->on_handshake(error); });
}

// Who sends no TLS, or not what we want of it, is told so by an alert, which must not be lost.
void HttpServerConnection::on_handshake(ErrorCode error) {
  if (phase_ == Phase::closed) return;
  if (!error) return begin();
  enter(Phase::lingering);
  stream_.shutdown_send();
  discard_bytes();
}

void HttpServerConnection::begin() {
  if (turned_away_) {
    return refuse({503, "The server has too many connections. Try again later."});
  }
  await_bytes();
}

void HttpServerConnection::drain() {
  if (phase_ == Phase::pausing) return close();
  if (phase_ == Phase::idle) stream_.cancel();
}

void HttpServerConnection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  stop_awaiting();
  hold(0);
  hold_answer(0);
  stream_.close();
  timer_.cancel();
  loop_->forget(shared_from_this());
}

void HttpServerConnection::await_request() {
  waiting_since_ = std::chrono::steady_clock::now();
  place_ = loop_->add_waiting(*this);
}

void HttpServerConnection::stop_awaiting() {
  if (place_) loop_->remove_waiting(*place_);
  place_.reset();
}

// So much is held for the request from now on; false where all together hold too much.
bool HttpServerConnection::hold(std::size_t request_bytes) {
  HeldBytes& held = loop_->serving().requests;
  if (request_bytes <= request_bytes_) {
    held.release(request_bytes_ - request_bytes);
  } else if (const std::size_t more = request_bytes - request_bytes_; !held.take(more)) {
    if (!make_room(more)) return false;
  }
  request_bytes_ = request_bytes;
  return true;
}

// Requests that have been coming for longer than this one give way.
bool HttpServerConnection::make_room(std::size_t request_bytes) {
  const auto holds_bytes = [](const HttpServerConnection& other) {
    return other.request_bytes_ > 0;
  };
  while (loop_->close_longest_waiting(holds_bytes, this)) {
    if (loop_->serving().requests.take(request_bytes)) return true;
  }
  return false;
}

bool HttpServerConnection::hold_answer(std::size_t bytes) {
  HeldBytes& held = loop_->serving().answers;
  held.release(std::exchange(answer_bytes_, 0));
  if (bytes <= options().shares.small_answer_bytes) return true;
  if (!held.take(bytes)) return false;
  answer_bytes_ = bytes;
  return true;
}

void HttpServerConnection::advance() {
  switch (reader_.advance()) {
    case HttpRequestReader::Step::need_bytes:
      return await_bytes();
    case HttpRequestReader::Step::head:
      return look_at_head();
    case HttpRequestReader::Step::send_continue:
      return send_continue();
    case HttpRequestReader::Step::complete:
      return handle();
    case HttpRequestReader::Step::refused:
      return refuse(reader_.refusal());
  }
}

void HttpServerConnection::await_bytes() {
  const Phase phase = phase_of(reader_.phase());
  // A request that has come before the draining began is still served.
  if (phase == Phase::idle && loop_->draining() && !stream_.has_bytes()) return close();
  // A deadline is for the whole head or body: one more byte does not move it.
  if (phase != phase_) enter(phase);
  const std::span<char> room = reader_.room();
  if (!hold(reader_.bytes_held())) return refuse(kTooManyRequestBytes);
  stream_.async_read_some(room, [self = shared_from_this()](ErrorCode error, std::size_t count) {
    self->on_bytes(error, count);
  });
}

void HttpServerConnection::on_bytes(ErrorCode error, std::size_t count) {
  if (phase_ == Phase::closed) return;
  if (timed_out_) return refuse({408, "The request did not arrive in time."});
  if (error == boost::asio::error::operation_aborted) return await_bytes();  // drain() did it
  if (error) return close();
  reader_.received(count);
  advance();
}

void HttpServerConnection::send_continue() {
  enter(Phase::body);
  stream_.async_write(kContinue, {}, [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->close();
    self->await_bytes();
  });
}

void HttpServerConnection::look_at_head() {
  HttpRequest& request = reader_.head().request;
  request.remote_address = remote_address_;
  std::optional<HttpResponse> response;
  if (options().at_head) response = options().at_head(request);
  if (response) return turn_away(*std::move(response));
  advance();
}

// The body that nobody wants is read past before the next request, unless it is not known whether,
// or up to where, it will come: then the connection ends.
void HttpServerConnection::turn_away(HttpResponse response) {
  enter(Phase::handling);
  const HttpRequestHead head = reader_.take_without_body();
  note_framing(head);
  if (head.chunked || head.expects_continue) keep_alive_ = false;
  answer(std::move(response));
}

void HttpServerConnection::note_framing(const HttpRequestHead& head) {
  keep_alive_ = head.keep_alive;
  http_1_0_ = head.http_1_0;
  head_only_ = head.request.method == "HEAD";
}

void HttpServerConnection::handle() {
  enter(Phase::handling);
  stop_awaiting();
  HttpRequestHead head = reader_.take();
  note_framing(head);
  const std::string& body = head.request.body;
  if (!hold(body.empty() ? 0 : body.capacity())) return refuse(kTooManyRequestBytes);
  auto respond = [ticket = std::make_shared<Ticket>(weak_from_this())](HttpResponse response) {
    ticket->answer(std::move(response));
  };
  options().handler(std::move(head.request), std::move(respond));
}

// What is posted holds no reference that would keep the connection, and with it the loop,
// alive: the loop may have stopped for good, and then nobody takes it out of the queue.
void HttpServerConnection::deliver(std::optional<HttpResponse> response) {
  if (loop_->on_loop_thread()) return answer(std::move(response));
  boost::asio::post(loop_->context(),
                    [weak = weak_from_this(), response = std::move(response)]() mutable {
                      if (const auto self = weak.lock()) self->answer(std::move(response));
                    });
}

void HttpServerConnection::answer(std::optional<HttpResponse> response) {
  if (phase_ != Phase::handling) return;
  if (!response) return refuse({500, "The server dropped the request."});
  if (!may_be_sent(*response)) return refuse({500, "The server made an answer it cannot send."});
  if (!hold_answer(response->body.size())) return refuse(kTooManyAnswerBytes);
  write(*std::move(response));
}

// After a refusal it is not known where the next request would begin: the connection ends.
void HttpServerConnection::refuse(const HttpRefusal& refusal) {
  keep_alive_ = false;
  HttpResponse response = refusal_of(refusal);
  ASSERT(may_be_sent(response));
  write(std::move(response));
}

HttpResponse HttpServerConnection::refusal_of(const HttpRefusal& refusal) const {
  if (options().refusal) return options().refusal(refusal.status, refusal.what);
  return {refusal.status, {{"Content-Type", "text/plain"}}, refusal.what + '\n'};
}

void HttpServerConnection::write(HttpResponse response) {
  enter(Phase::writing);
  stop_awaiting();
  hold(0);
  throttled_ = response.status == 429;
  if (loop_->draining()) keep_alive_ = false;
  out_head_.clear();
  render_answer_head(response, connection_header(), out_head_);
  out_body_ = std::move(response.body);
  if (head_only_ || !status_has_body(response.status)) out_body_.clear();
  stream_.async_write(
      out_head_, out_body_,
      [self = shared_from_this()](ErrorCode error, std::size_t) { self->on_written(error); });
}

std::string_view HttpServerConnection::connection_header() const {
  if (!keep_alive_) return "close";
  return http_1_0_ ? "keep-alive" : "";
}

void HttpServerConnection::on_written(ErrorCode error) {
  if (phase_ == Phase::closed) return;
  if (error) return close();
  out_body_ = {};  // a waiting connection holds no memory it does not need
  hold_answer(0);
  if (!keep_alive_) return linger();
  head_only_ = false;
  await_request();
  if (throttled_ && !loop_->draining()) return enter(Phase::pausing);
  advance();
}

// Closing a socket with unread bytes makes the kernel reset the connection, which may take the
// answer away from a client that is still sending. So we say that we are done, and read on for
// a little while until the client is done as well.
void HttpServerConnection::linger() {
  enter(Phase::lingering);
  stream_.async_finish_sending([self = shared_from_this()] {
    if (self->phase_ != Phase::closed) self->discard_bytes();
  });
}

void HttpServerConnection::discard_bytes() {
  reader_.discard();
  stream_.async_discard_some(reader_.room(),
                             [self = shared_from_this()](ErrorCode error, std::size_t count) {
                               self->on_discarded(error, count);
                             });
}

void HttpServerConnection::on_discarded(ErrorCode error, std::size_t count) {
  if (phase_ == Phase::closed) return;
  discarded_bytes_ += count;
  if (error || discarded_bytes_ > kLingerBytesMax) return close();
  discard_bytes();
}

void HttpServerConnection::enter(Phase phase) {
  phase_ = phase;
  const std::optional<Millis> timeout = timeout_of(phase);
  set_deadline(timeout ? std::chrono::steady_clock::now() + *timeout : TimePoint::max());
}

// None while the handler works: it has its own idea of how long that may take.
std::optional<Millis> HttpServerConnection::timeout_of(Phase phase) const {
  const HttpServerLimits& limits = options().limits;
  switch (phase) {
    case Phase::handshake:
      return limits.handshake_timeout;
    case Phase::idle:
      return limits.idle_timeout;
    case Phase::head:
      return limits.head_timeout;
    case Phase::body:
      return limits.body_timeout;
    case Phase::writing:
      return limits.write_timeout;
    case Phase::pausing:
      return options().shares.throttled_pause;
    case Phase::lingering:
      return limits.linger_timeout;
    case Phase::starting:
    case Phase::handling:
    case Phase::closed:
      return {};
  }
  return {};
}

// Several deadlines are set for each request and hardly one of them is ever reached, so the
// timer is touched only when it would come too late; one that comes too early looks again.
void HttpServerConnection::set_deadline(TimePoint deadline) {
  deadline_ = deadline;
  if (deadline_ < timer_expiry_) arm_timer();
}

void HttpServerConnection::arm_timer() {
  timer_expiry_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error) self->on_timer();
  });
}

void HttpServerConnection::on_timer() {
  timer_expiry_ = TimePoint::max();
  if (phase_ == Phase::closed || deadline_ == TimePoint::max()) return;
  if (std::chrono::steady_clock::now() < deadline_) return arm_timer();
  on_deadline();
}

void HttpServerConnection::on_deadline() {
  if (phase_ == Phase::pausing) return advance();
  if ((phase_ != Phase::head && phase_ != Phase::body) || reader_.skipping()) return close();
  timed_out_ = true;
  stream_.cancel();  // on_bytes() answers
}

}  // namespace belfry
