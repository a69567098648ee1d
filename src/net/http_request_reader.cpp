// SPDX-License-Identifier: MIT
#include "net/http_request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

constexpr std::size_t kBufferBytes = 4 * 1024;  // of a connection that waits; there are many
constexpr std::size_t kBodyBufferBytes = 16 * 1024;
constexpr std::size_t kRoomBytesMin = 1024;

// Method, space, target, space, "HTTP/1.1", CR LF.
std::size_t request_line_bytes_max(const HttpServerLimits& limits) {
  return std::min(kMethodBytesMax + 1 + limits.target_bytes_max + 1 + 8 + 2, limits.head_bytes_max);
}

}  // namespace

HttpRequestReader::HttpRequestReader(const HttpServerLimits& limits)
    : limits_(limits), buffer_(kBufferBytes) {}

std::span<char> HttpRequestReader::room() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (phase() == Phase::body && buffer_.size() < kBodyBufferBytes) {
    buffer_.resize(kBodyBufferBytes);
  } else if (phase() == Phase::idle && buffer_.size() > kBufferBytes) {
    buffer_ = std::vector<char>(kBufferBytes);
  } else if (buffer_.size() - end_ < kRoomBytesMin) {
    buffer_.resize(buffer_.size() * 2);
  }
  return std::span(buffer_).subspan(end_);
}

std::size_t HttpRequestReader::bytes_held() const {
  return buffer_.size() - kBufferBytes + (head_ ? head_->request.body.capacity() : 0);
}

HttpRequestReader::Phase HttpRequestReader::phase() const {
  if (head_ || skipping()) return Phase::body;
  return pending().empty() ? Phase::idle : Phase::head;
}

HttpRequestReader::Step HttpRequestReader::advance() {
  ASSERT(!refusal_);
  if (!skip_body()) return Step::need_bytes;
  return head_ ? read_body() : read_head();
}

HttpRequestHead HttpRequestReader::take() {
  ASSERT(head_.has_value());
  HttpRequestHead head = *std::move(head_);
  head_.reset();
  chunks_.reset();
  return head;
}

HttpRequestHead HttpRequestReader::take_without_body() {
  HttpRequestHead head = take();
  ASSERT(head.request.body.empty());
  skip_bytes_ = head.content_length;
  return head;
}

// True when nothing is left of it.
bool HttpRequestReader::skip_body() {
  const std::uint64_t now = std::min<std::uint64_t>(skip_bytes_, pending().size());
  consume(now);
  skip_bytes_ -= now;
  return !skipping();
}

HttpRequestReader::Step HttpRequestReader::read_head() {
  if (!begin_head() || !find_head_end()) return refusal_ ? Step::refused : Step::need_bytes;
  auto parsed = parse_request_head(pending().substr(0, scanned_), limits_);
  consume(std::exchange(scanned_, 0));
  line_begin_ = 0;
  skipped_empty_line_ = false;
  if (const auto* refusal = std::get_if<HttpRefusal>(&parsed)) {
    refusal_ = *refusal;
    return Step::refused;
  }
  head_ = std::get<HttpRequestHead>(std::move(parsed));
  if (head_->chunked) chunks_.emplace(limits_.body_bytes_max);
  return Step::head;
}

// One empty line before a request is forgiven: old clients end a body with one (RFC 9112, 2.2).
// False while it cannot be told yet.
bool HttpRequestReader::skip_empty_line() {
  if (skipped_empty_line_ || scanned_ > 0 || !pending().starts_with('\r')) return true;
  if (pending().size() < 2) return false;
  if (pending()[1] == '\n') {
    consume(2);
    skipped_empty_line_ = true;
  }
  return true;
}

// Told by its first byte, so that a client that speaks TLS to us, and now waits for our part of
// the handshake, learns at once that this is not the place.
bool HttpRequestReader::begin_head() {
  if (!skip_empty_line() || pending().empty()) return false;
  if (!is_token(pending().substr(0, 1))) refuse(400, "This is not an HTTP request.");
  return !refusal_;
}

bool HttpRequestReader::find_head_end() {
  while (true) {
    const bool in_request_line = line_begin_ == 0;
    const std::size_t limit =
        in_request_line ? request_line_bytes_max(limits_) : limits_.head_bytes_max;
    const std::string_view window = pending().substr(scanned_, limit - scanned_);
    const std::size_t feed = window.find('\n');
    if (feed == std::string_view::npos) {
      scanned_ += window.size();
      if (scanned_ < limit) return false;
      refuse_long_head(in_request_line);
      return false;
    }
    scanned_ += feed + 1;
    const std::string_view line = pending().substr(line_begin_, scanned_ - line_begin_);
    if (!line.ends_with("\r\n")) {
      refuse(400, "A line of the head ends without a carriage return.");
      return false;
    }
    if (line.size() == 2) return true;
    line_begin_ = scanned_;
  }
}

void HttpRequestReader::refuse_long_head(bool in_request_line) {
  if (in_request_line) {
    return refuse(414, fmt::format("The request target is longer than the {} bytes that are "
                                   "allowed.",
                                   limits_.target_bytes_max));
  }
  refuse(431, fmt::format("The request line and the headers are longer than the {} bytes that are "
                          "allowed.",
                          limits_.head_bytes_max));
}

HttpRequestReader::Step HttpRequestReader::read_body() {
  const bool had_bytes = !pending().empty();
  if (take_body()) return Step::complete;
  if (refusal_) return Step::refused;
  // A client that has begun to send its body is not waiting for leave to do so.
  const bool waits = std::exchange(head_->expects_continue, false) && !had_bytes;
  return waits ? Step::send_continue : Step::need_bytes;
}

// True when the body is complete.
bool HttpRequestReader::take_body() {
  std::string& body = head_->request.body;
  if (chunks_) {
    consume(chunks_->feed(pending(), body));
    refusal_ = chunks_->refusal();
    return chunks_->done();
  }
  const std::string_view part = pending().substr(0, head_->content_length - body.size());
  // Twice as much each time it has to grow, but never more than will come: a string that has
  // room already would take twice that.
  const std::size_t needed = body.size() + part.size();
  if (needed > body.capacity()) {
    std::string larger;
    larger.reserve(std::min<std::size_t>(2 * needed, head_->content_length));
    larger.append(body);
    body = std::move(larger);
  }
  body += part;
  consume(part.size());
  return body.size() == head_->content_length;
}

}  // namespace belfry
