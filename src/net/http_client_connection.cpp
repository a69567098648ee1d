// SPDX-License-Identifier: MIT

#include "net/http_client_connection.h"

#include <utility>

#include "base/assert.h"
#include "net/http_client_origin.h"

namespace belfry {

const HttpClientLimits& HttpClientConnection::limits() const {
  return pool_.options().limits;
}

void HttpClientConnection::enter(Stage stage, SteadyTime deadline) {
  stage_ = stage;
  stage_deadline_ = deadline;
}

void HttpClientConnection::carry(HttpExchangePtr exchange) {
  ASSERT(stage_ == Stage::idle);
  exchange_ = std::move(exchange);
  ++carried_;
  begin_exchange();
}

void HttpClientConnection::begin_exchange() {
  enter(Stage::exchanging, exchange_->deadline);
  reader_.emplace(limits(), exchange_->answering, exchange_->body_kept_bytes_max);
  write_rest(stream_.write_at_once(*exchange_->bytes));
}

void HttpClientConnection::write_rest(std::size_t written) {
  const std::shared_ptr<const std::string> bytes = exchange_->bytes;
  if (written == bytes->size()) return;
  writing_ = true;
  // The bytes may outlive the exchange: a server may answer without having read to the end.
  // Whether it did, and what an error means, the read will tell.
  stream_.async_write(std::string_view(*bytes).substr(written),
                      [self = shared_from_this(), bytes](Error error, std::size_t) {
                        if (!error) self->writing_ = false;
                      });
}

void HttpClientConnection::read() {
  stream_.async_read_some(buffer_, [self = shared_from_this()](Error error, std::size_t count) {
    self->on_read(error, count);
  });
}

void HttpClientConnection::on_read(Error error, std::size_t count) {
  if (stage_ == Stage::closed) return;
  if (stage_ == Stage::idle) return close();  // closed by the server, or bytes nobody asked for
  if (error) return on_read_failed(error);
  on_step(reader_->feed({buffer_.data(), count}));
}

void HttpClientConnection::on_read_failed(Error error) {
  const bool stale = carried_ > 0 && !reader_->began() && !exchange_->resent;
  if (stale) {
    HttpExchangePtr exchange = std::move(exchange_);
    exchange->resent = true;
    HttpOriginPool& pool = pool_;
    close();
    return pool.resend(std::move(exchange));
  }
  // Many servers end TLS without saying so; what counts is whether the answer was whole.
  const bool orderly =
      error == boost::asio::error::eof || error == boost::asio::ssl::error::stream_truncated;
  if (orderly) return on_step(reader_->end());
  fail(HttpFailureKind::closed, error.message());
}

void HttpClientConnection::on_step(HttpResponseReader::Step step) {
  switch (step) {
    case HttpResponseReader::Step::need_bytes:
      return read();
    case HttpResponseReader::Step::complete:
      return finish();
    case HttpResponseReader::Step::failed:
      return fail(reader_->failure());
  }
}

// The connection goes on to the next call before the outcome of this one is told.
void HttpClientConnection::finish() {
  const auto self = shared_from_this();
  HttpExchangePtr exchange = std::move(exchange_);
  HttpOutcome outcome = outcome_of(reader_->take_reply());
  if (reader_->reusable() && !writing_) {
    enter(Stage::idle, SteadyClock::now() + limits().idle_timeout);
    read();
    pool_.on_idle(*this);
  } else {
    close();
  }
  pool_.finish(std::move(exchange), std::move(outcome));
}

// Only a proxy answers 407; what else it answers cannot be told from an answer of the target.
HttpOutcome HttpClientConnection::outcome_of(HttpReply reply) const {
  const bool refused = pool_.proxy() && !pool_.origin().https && reply.status == 407;
  if (refused) return HttpFailure{HttpFailureKind::proxy_refused, refusal_by_proxy(407)};
  return reply;
}

void HttpClientConnection::fail(HttpFailureKind kind, std::string detail) {
  fail(HttpFailure{kind, std::move(detail)});
}

void HttpClientConnection::fail(HttpFailure failure) {
  const auto self = shared_from_this();
  HttpExchangePtr exchange = std::move(exchange_);
  close();
  pool_.finish(std::move(exchange), std::move(failure));
}

void HttpClientConnection::close() {
  if (stage_ == Stage::closed) return;
  const auto self = shared_from_this();
  stage_ = Stage::closed;
  stream_.close();
  pool_.on_closed(*this);
}

void HttpClientConnection::check_deadlines(SteadyTime now) {
  if (stage_ == Stage::closed) return;
  if (exchange_ && now >= exchange_->deadline) {
    return fail(HttpFailureKind::timeout, stage_ == Stage::starved
                                              ? "this server may open no more files: see ulimit -n"
                                              : "");
  }
  if (now >= stage_deadline_) expire_stage();
}

}  // namespace belfry
