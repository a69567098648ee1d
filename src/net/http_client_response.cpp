// SPDX-License-Identifier: MIT

#include "net/http_client_response.h"

#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "net/http_answer.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

// The length of the head that `bytes` begin with, its empty line included; 0: it goes on.
// `searched` bytes are known to hold no end.
std::size_t head_length(std::string_view bytes, std::size_t searched) {
  std::size_t at = searched < 2 ? 0 : searched - 2;
  while ((at = bytes.find('\n', at)) != std::string_view::npos) {
    const std::string_view next = bytes.substr(at + 1, 2);
    if (next.starts_with('\n')) return at + 2;
    if (next == "\r\n") return at + 3;
    ++at;
  }
  return 0;
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t feed = rest.find('\n');
  std::string_view line = rest.substr(0, feed);
  rest.remove_prefix(feed == std::string_view::npos ? rest.size() : feed + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

bool ends_in_chunked(std::string_view encodings) {
  const std::size_t comma = encodings.rfind(',');
  const std::string_view last =
      comma == std::string_view::npos ? encodings : encodings.substr(comma + 1);
  return equal_ignoring_case(trimmed(last), "chunked");
}

bool is_digit(char byte) {
  return '0' <= byte && byte <= '9';
}

}  // namespace

struct HttpResponseReader::Framing {
  std::optional<std::uint64_t> length;
  bool encoded = false;  // there is a Transfer-Encoding
  bool chunked = false;
  bool close = false;
  bool keep_alive = false;
};

std::string_view HttpReply::header(std::string_view name) const {
  std::string_view rest = header_lines;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::size_t colon = line.find(':');
    if (equal_ignoring_case(line.substr(0, colon), name)) return trimmed(line.substr(colon + 1));
  }
  return {};
}

HttpResponseReader::Step HttpResponseReader::feed(std::string_view bytes) {
  began_ = began_ || !bytes.empty();
  while (!bytes.empty() && step() == Step::need_bytes) {
    bytes.remove_prefix(state_ == State::head ? take_head(bytes) : take_body(bytes));
  }
  // What follows an answer was not asked for; the next one could not be told from it.
  if (state_ == State::complete && !bytes.empty()) keep_alive_ = false;
  return step();
}

HttpResponseReader::Step HttpResponseReader::end() {
  keep_alive_ = false;
  if (state_ == State::body_until_close) {
    complete();
  } else if (step() == Step::need_bytes) {
    fail(HttpFailureKind::closed, began_ ? "the connection ended in the middle of the answer"
                                         : "the connection ended before an answer came");
  }
  return step();
}

HttpResponseReader::Step HttpResponseReader::step() const {
  if (state_ == State::complete) return Step::complete;
  return state_ == State::failed ? Step::failed : Step::need_bytes;
}

// Most heads come in one piece and are read where they lie.
std::size_t HttpResponseReader::take_head(std::string_view bytes) {
  const std::string_view window = bytes.substr(0, limits_.head_bytes_max - head_bytes_);
  const std::size_t before = head_.size();
  if (before > 0) head_ += window;
  const std::string_view whole = before > 0 ? std::string_view(head_) : window;
  const std::size_t length = head_length(whole, before);
  const std::size_t taken = length == 0 ? window.size() : length - before;
  head_bytes_ += taken;
  if (length > 0) {
    end_head(whole.substr(0, length));
    head_.clear();
  } else if (before == 0) {
    head_ = window;
  }
  if (state_ == State::head && head_bytes_ >= limits_.head_bytes_max) {
    fail(HttpFailureKind::too_large, "the head of the answer is too large");
  }
  return taken;
}

void HttpResponseReader::end_head(std::string_view head) {
  if (!parse_status_line(take_line(head))) return;
  reply_.header_lines.clear();
  Framing framing;
  if (!parse_headers(head, framing)) return;
  if (reply_.status == 101) {
    return fail(HttpFailureKind::protocol, "the server changed to a protocol nobody asked for");
  }
  if (reply_.status < 200) return;  // informational: the real answer follows
  begin_body(framing);
}

bool HttpResponseReader::parse_status_line(std::string_view line) {
  const bool formed = line.size() >= 12 && line.starts_with("HTTP/1.") && is_digit(line[7]) &&
                      line[8] == ' ' && is_digit(line[9]) && is_digit(line[10]) &&
                      is_digit(line[11]) && (line.size() == 12 || line[12] == ' ');
  if (!formed || line[9] == '0') {
    fail(HttpFailureKind::protocol, "the answer does not begin with an HTTP/1.1 status line");
    return false;
  }
  http_1_0_ = line[7] == '0';
  reply_.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return true;
}

bool HttpResponseReader::parse_headers(std::string_view lines, Framing& framing) {
  reply_.header_lines.reserve(lines.size());
  while (true) {
    const std::string_view line = take_line(lines);
    if (line.empty()) return true;
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view{} : trimmed(line.substr(colon + 1));
    if (colon == std::string_view::npos || !is_token(name) || !is_field_value(value)) {
      fail(HttpFailureKind::protocol, "a header of the answer is malformed");
      return false;
    }
    if (!note_header(name, value, framing)) return false;
    reply_.header_lines.append(name).append(": ").append(value).append("\r\n");
  }
}

bool HttpResponseReader::note_header(std::string_view name, std::string_view value,
                                     Framing& framing) {
  if (equal_ignoring_case(name, "content-length")) {
    const auto length = parse_length(value);
    if (!length || (framing.length && framing.length != length)) {
      fail(HttpFailureKind::protocol, "the Content-Length of the answer is not one number");
      return false;
    }
    framing.length = length;
  } else if (equal_ignoring_case(name, "transfer-encoding")) {
    framing.encoded = true;
    framing.chunked = ends_in_chunked(value);
  } else if (equal_ignoring_case(name, "connection")) {
    framing.close = framing.close || list_names(value, "close");
    framing.keep_alive = framing.keep_alive || list_names(value, "keep-alive");
  }
  return true;
}

void HttpResponseReader::begin_body(const Framing& framing) {
  keep_alive_ = !framing.close && (!http_1_0_ || framing.keep_alive);
  // A server that says both does not know where its answer ends; the next one is not trusted.
  if (framing.encoded && (framing.length || http_1_0_)) keep_alive_ = false;
  const bool no_body = answering_ == Answering::head || !status_has_body(reply_.status);
  if (no_body) return complete();
  if (framing.chunked) {
    state_ = State::chunked_body;
    // The decoder need not count: take_body() does, and stops.
    chunks_.emplace(std::numeric_limits<std::size_t>::max());
  } else if (framing.length && !framing.encoded) {
    state_ = State::sized_body;
    body_left_ = *framing.length;
    if (body_left_ == 0) complete();
  } else {
    state_ = State::body_until_close;
    keep_alive_ = false;
  }
}

std::size_t HttpResponseReader::take_body(std::string_view bytes) {
  if (state_ == State::chunked_body) return take_chunked(bytes);
  if (state_ == State::sized_body) bytes = bytes.substr(0, body_left_);
  keep(bytes);
  if (state_ != State::sized_body) return bytes.size();
  body_left_ -= bytes.size();
  if (body_left_ == 0) complete();
  return bytes.size();
}

std::size_t HttpResponseReader::take_chunked(std::string_view bytes) {
  std::string payload;
  const std::size_t taken = chunks_->feed(bytes, payload);
  keep(payload);
  if (state_ == State::complete) return taken;
  if (chunks_->refusal()) {
    fail(HttpFailureKind::protocol, "the chunks of the answer are malformed");
  } else if (chunks_->done()) {
    complete();
  }
  return taken;
}

// A body beyond the limit ends the reading, not the call: the status has said what happened.
void HttpResponseReader::keep(std::string_view bytes) {
  const std::size_t room = body_kept_bytes_max_ - reply_.body.size();
  reply_.body += bytes.substr(0, room);
  if (bytes.size() > room) reply_.body_cut = true;
  body_bytes_ += bytes.size();
  if (body_bytes_ <= limits_.body_bytes_max) return;
  keep_alive_ = false;
  complete();
}

void HttpResponseReader::complete() {
  state_ = State::complete;
}

void HttpResponseReader::fail(HttpFailureKind kind, std::string_view detail) {
  state_ = State::failed;
  keep_alive_ = false;
  failure_ = {kind, std::string(detail)};
}

}  // namespace belfry
