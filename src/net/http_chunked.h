// SPDX-License-Identifier: MIT
//
// HttpChunkedDecoder takes a chunked body apart (RFC 9112, section 7.1), as it comes, in
// pieces of any size. What it makes of the bytes does not depend on how they were cut. As
// strict as the head: only CR LF ends a line, a size is hexadecimal digits and nothing else.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_request_head.h"

namespace belfry {

class HttpChunkedDecoder {
 public:
  explicit HttpChunkedDecoder(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  // Appends to `body` what `bytes` hold of it, and returns how many of them were taken: all,
  // unless the body ended before or was refused.
  std::size_t feed(std::string_view bytes, std::string& body);

  bool done() const { return state_ == State::done; }
  const std::optional<HttpRefusal>& refusal() const { return refusal_; }

 private:
  enum class State { size_line, payload, payload_end, trailer_line, done };

  std::size_t take_payload(std::string_view bytes, std::string& body);
  std::size_t take_line(std::string_view bytes, std::size_t body_bytes);
  std::size_t line_bytes_max() const;
  void end_line(std::size_t body_bytes);
  void end_size_line(std::string_view line, std::size_t body_bytes);
  void end_trailer_line(std::string_view line);
  void refuse(HttpRefusal refusal) { refusal_ = std::move(refusal); }

  std::size_t body_bytes_max_;
  State state_ = State::size_line;
  std::string line_;  // as far as it has come
  std::size_t payload_left_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::optional<HttpRefusal> refusal_;
};

}  // namespace belfry
