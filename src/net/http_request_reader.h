// SPDX-License-Identifier: MIT
//
// HttpRequestReader makes requests of the bytes of one connection. It owns the buffer the
// bytes are read into and knows neither sockets nor time, so that a test or a fuzzer can feed
// it as well as a connection does.
//
// Holds: which requests come out, and what is refused, depends on the bytes alone and not on
// how they were cut into pieces.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_chunked.h"
#include "net/http_request_head.h"
#include "net/http_server_limits.h"

namespace belfry {

class HttpRequestReader {
 public:
  enum class Step {
    need_bytes,
    head,           // head() has all of a request but its body; advance() again reads that
    send_continue,  // the client waits for "100 Continue" before it sends the body
    complete,       // take() has a request
    refused,        // refusal() says why; nothing can be read after it
  };
  enum class Phase { idle, head, body };  // what the next byte belongs to

  // `limits` outlive the reader.
  explicit HttpRequestReader(const HttpServerLimits& limits);

  // Where the next bytes are to be written; received() tells how many were.
  std::span<char> room();
  void received(std::size_t count) { end_ += count; }

  Step advance();
  Phase phase() const;
  HttpRequestHead& head() { return *head_; }
  HttpRequestHead take();

  // The request without its body, which is read past before the next one; not for a chunked one.
  HttpRequestHead take_without_body();
  bool skipping() const { return skip_bytes_ > 0; }
  const HttpRefusal& refusal() const { return *refusal_; }

  // What it has set aside for the request that is being read, beyond what every connection has.
  std::size_t bytes_held() const;

  // Forgets the bytes that came and were not used.
  void discard() { begin_ = end_; }

 private:
  Step read_head();
  Step read_body();
  bool skip_body();
  bool skip_empty_line();
  bool begin_head();
  bool find_head_end();
  bool take_body();
  void consume(std::size_t count) { begin_ += count; }
  void refuse(HttpRefusal refusal) { refusal_ = std::move(refusal); }
  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }

  const HttpServerLimits& limits_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what came and was not used is from begin_ to end_
  std::size_t end_ = 0;
  std::size_t scanned_ = 0;     // how much of pending() was searched for the end of the head
  std::size_t line_begin_ = 0;  // where in pending() the line that is being searched begins
  bool skipped_empty_line_ = false;
  std::uint64_t skip_bytes_ = 0;         // of a body that nobody wants
  std::optional<HttpRequestHead> head_;  // there while its body is being read
  std::optional<HttpChunkedDecoder> chunks_;
  std::optional<HttpRefusal> refusal_;
};

}  // namespace belfry
