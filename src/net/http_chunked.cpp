// SPDX-License-Identifier: MIT
#include "net/http_chunked.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "net/http_syntax.h"

namespace belfry {
namespace {

constexpr std::size_t kSizeLineBytesMax = 256;  // extensions are allowed, and ignored
constexpr std::size_t kSizeDigitsMax = 8;
constexpr std::size_t kTrailerBytesMax = 4096;  // of all trailer lines together

std::optional<std::size_t> parse_size(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  if (digits.empty() || digits.size() > kSizeDigitsMax) return {};
  std::size_t size = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, size, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {};
  if (!is_field_value(line.substr(digits.size()))) return {};
  return size;
}

bool is_header_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && is_token(line.substr(0, colon)) &&
         is_field_value(line.substr(colon + 1));
}

}  // namespace

std::size_t HttpChunkedDecoder::feed(std::string_view bytes, std::string& body) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !done() && !refusal_) {
    const std::string_view rest = bytes.substr(taken);
    taken += state_ == State::payload ? take_payload(rest, body) : take_line(rest, body.size());
  }
  return taken;
}

std::size_t HttpChunkedDecoder::take_payload(std::string_view bytes, std::string& body) {
  const std::string_view payload = bytes.substr(0, payload_left_);
  body += payload;
  payload_left_ -= payload.size();
  if (payload_left_ == 0) state_ = State::payload_end;
  return payload.size();
}

std::size_t HttpChunkedDecoder::take_line(std::string_view bytes, std::size_t body_bytes) {
  const std::string_view window = bytes.substr(0, line_bytes_max() - line_.size());
  const std::size_t feed = window.find('\n');
  const std::size_t taken = feed == std::string_view::npos ? window.size() : feed + 1;
  line_ += window.substr(0, taken);
  if (feed != std::string_view::npos) {
    end_line(body_bytes);
  } else if (line_.size() == line_bytes_max()) {
    refuse(400, fmt::format("A line between the chunks of the body is longer than the {} bytes "
                            "that are allowed.",
                            line_bytes_max()));
  }
  return taken;
}

std::size_t HttpChunkedDecoder::line_bytes_max() const {
  switch (state_) {
    case State::payload_end:
      return 2;
    case State::trailer_line:
      return kTrailerBytesMax - trailer_bytes_;
    default:
      return kSizeLineBytesMax;
  }
}

void HttpChunkedDecoder::end_line(std::size_t body_bytes) {
  if (!line_.ends_with("\r\n")) {
    return refuse(400, "A line of the chunked body ends without a carriage return.");
  }
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - 2);
  if (state_ == State::size_line) {
    end_size_line(line, body_bytes);
  } else if (state_ == State::trailer_line) {
    end_trailer_line(line);
  } else {
    state_ = State::size_line;  // payload_end: at most two bytes, so the line is empty
  }
  line_.clear();
}

void HttpChunkedDecoder::end_size_line(std::string_view line, std::size_t body_bytes) {
  const std::optional<std::size_t> size = parse_size(line);
  if (!size) return refuse(400, "A chunk's size is not a number.");
  if (*size > body_bytes_max_ - body_bytes) {
    return refuse(413, fmt::format("The body is longer than the {} bytes that are allowed.",
                                   body_bytes_max_));
  }
  payload_left_ = *size;
  state_ = *size == 0 ? State::trailer_line : State::payload;
}

// Trailers are checked and forgotten: nothing here may be changed by them.
void HttpChunkedDecoder::end_trailer_line(std::string_view line) {
  trailer_bytes_ += line.size() + 2;
  if (line.empty()) {
    state_ = State::done;
  } else if (!is_header_line(line)) {
    refuse(400, "A trailer of the chunked body is not a header.");
  }
}

}  // namespace belfry
