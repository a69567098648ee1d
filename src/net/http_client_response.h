// SPDX-License-Identifier: MIT
//
// HttpResponseReader makes a reply out of the bytes that a server sends, in pieces of any
// size; what it makes of them does not depend on how they were cut. It keeps the beginning of
// the body and counts the rest. Pure; touches no socket.
//
// It is a little more forgiving than our server: nobody stands between a target and us who
// could be made to see another answer, so a bare line feed ends a line too.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_chunked.h"
#include "net/http_client_call.h"

namespace belfry {

class HttpResponseReader {
 public:
  enum class Step { need_bytes, complete, failed };
  enum class Answering { get, head };  // an answer to HEAD has no body, whatever it says

  // Of the body it keeps what the limits say, or what the call does.
  HttpResponseReader(const HttpClientLimits& limits, Answering answering,
                     std::size_t body_kept_bytes_max = 0)
      : limits_(limits),
        answering_(answering),
        body_kept_bytes_max_(body_kept_bytes_max != 0 ? body_kept_bytes_max
                                                      : limits.body_kept_bytes_max) {}

  Step feed(std::string_view bytes);

  // The server has closed the connection; for some answers that is how they end.
  Step end();

  bool began() const { return began_; }

  // After `complete`: the connection is fit for another request.
  bool reusable() const { return keep_alive_; }

  HttpReply take_reply() { return std::move(reply_); }
  const HttpFailure& failure() const { return failure_; }

 private:
  enum class State { head, sized_body, chunked_body, body_until_close, complete, failed };

  struct Framing;

  std::size_t take_head(std::string_view bytes);
  void end_head(std::string_view head);
  bool parse_status_line(std::string_view line);
  bool parse_headers(std::string_view lines, Framing& framing);
  bool note_header(std::string_view name, std::string_view value, Framing& framing);
  void begin_body(const Framing& framing);
  std::size_t take_body(std::string_view bytes);
  std::size_t take_chunked(std::string_view bytes);
  void keep(std::string_view bytes);
  void complete();
  void fail(HttpFailureKind kind, std::string_view detail);
  Step step() const;

  const HttpClientLimits& limits_;
  Answering answering_;
  const std::size_t body_kept_bytes_max_;
  State state_ = State::head;
  bool began_ = false;
  bool http_1_0_ = false;
  bool keep_alive_ = false;
  std::string head_;  // of an answer whose head came in several pieces
  std::size_t head_bytes_ = 0;
  std::uint64_t body_left_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::optional<HttpChunkedDecoder> chunks_;
  HttpReply reply_;
  HttpFailure failure_;
};

}  // namespace belfry
