// SPDX-License-Identifier: MIT
//
// Any bytes as what a client sends over one connection. What is made of them must not depend
// on where they are cut, must keep every rule of the server, and, written down again in the
// plainest way, must read as the same request: then no other reader has cause to see another.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/assert.h"
#include "net/http_request_reader.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

using Step = HttpRequestReader::Step;

// Small, so that short inputs reach them.
HttpServerLimits small_limits() {
  HttpServerLimits limits;
  limits.head_bytes_max = 512;
  limits.target_bytes_max = 64;
  limits.headers_max = 8;
  limits.body_bytes_max = 64;
  return limits;
}

const HttpServerLimits kLimits = small_limits();

struct Outcome {
  std::vector<HttpRequestHead> requests;
  HttpRefusal refusal{0, ""};
};

bool take_all(HttpRequestReader& reader, Outcome& outcome) {
  while (true) {
    const Step step = reader.advance();
    if (step == Step::complete) outcome.requests.push_back(reader.take());
    if (step == Step::refused) outcome.refusal = reader.refusal();
    if (step == Step::need_bytes) return true;
    if (step == Step::refused) return false;
  }
}

Outcome read(std::string_view bytes, std::size_t piece_bytes) {
  HttpRequestReader reader(kLimits);
  Outcome outcome;
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::string_view piece = bytes.substr(0, std::min(room.size(), piece_bytes));
    std::copy(piece.begin(), piece.end(), room.begin());
    reader.received(piece.size());
    bytes.remove_prefix(piece.size());
    if (!take_all(reader, outcome)) break;
  }
  return outcome;
}

bool same(const HttpRequestHead& a, const HttpRequestHead& b) {
  return a.request.method == b.request.method && a.request.target == b.request.target &&
         a.request.headers == b.request.headers && a.request.body == b.request.body &&
         a.content_length == b.content_length && a.chunked == b.chunked &&
         a.http_1_0 == b.http_1_0 && a.keep_alive == b.keep_alive;
}

void check_same(const Outcome& a, const Outcome& b) {
  ASSERT(a.refusal.status == b.refusal.status);
  ASSERT(a.refusal.what == b.refusal.what);
  ASSERT(
      std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(), b.requests.end(), same));
}

std::ptrdiff_t count_of(const HttpHeaders& headers, std::string_view name) {
  return std::count_if(headers.begin(), headers.end(),
                       [&](const auto& header) { return equal_ignoring_case(header.first, name); });
}

void check_rules(const HttpRequestHead& head) {
  const HttpRequest& request = head.request;
  ASSERT(is_token(request.method));
  ASSERT(request.target.starts_with('/') || request.target == "*");
  ASSERT(is_target_text(request.target) && request.target.size() <= kLimits.target_bytes_max);
  ASSERT(request.headers.size() <= kLimits.headers_max);
  for (const auto& [name, value] : request.headers) {
    ASSERT(is_token(name) && is_field_value(value) && trimmed(value) == value);
  }
  ASSERT(count_of(request.headers, "host") == 1 || head.http_1_0);
  const auto lengths = count_of(request.headers, "content-length");
  ASSERT(lengths + count_of(request.headers, "transfer-encoding") <= 1);
  ASSERT(request.body.size() <= kLimits.body_bytes_max);
  ASSERT(head.chunked || request.body.size() == head.content_length);
}

std::string written_plainly(const HttpRequestHead& head) {
  const HttpRequest& request = head.request;
  std::string text =
      request.method + ' ' + request.target + (head.http_1_0 ? " HTTP/1.0" : " HTTP/1.1") + "\r\n";
  for (const auto& [name, value] : request.headers) text += name + ':' + value + "\r\n";
  text += "\r\n";
  if (!head.chunked) return text + request.body;
  for (const char byte : request.body) text += std::string("1\r\n") + byte + "\r\n";
  return text + "0\r\n\r\n";
}

void check_written_plainly(const HttpRequestHead& head) {
  const std::string text = written_plainly(head);
  const Outcome again = read(text, text.size());
  ASSERT(again.refusal.status == 0);
  ASSERT(again.requests.size() == 1 && same(again.requests.front(), head));
}

}  // namespace

void check_connection(std::string_view bytes) {
  const Outcome whole = read(bytes, bytes.size() + 1);
  check_same(whole, read(bytes, 1));
  check_same(whole, read(bytes, 3));
  for (const HttpRequestHead& head : whole.requests) {
    check_rules(head);
    check_written_plainly(head);
  }
}

}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check_connection({reinterpret_cast<const char*>(data), size});
  return 0;
}
