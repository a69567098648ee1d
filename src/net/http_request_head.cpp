// SPDX-License-Identifier: MIT
#include "net/http_request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/assert.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

using Refused = std::optional<HttpRefusal>;

HttpRefusal bad(std::string what) {
  return {400, std::move(what)};
}

// The next line of `rest`, which then begins after it. Only CR LF ends a line; a CR or LF
// anywhere else stays in the line and fails the line's own check.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  ASSERT(end != std::string_view::npos);
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

// What stands before the first space; `rest` then begins after it.
std::string_view take_word(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

Refused check_method(std::string_view method) {
  if (!is_token(method)) return bad("The method is not a token.");
  if (method.size() > kMethodBytesMax) {
    return HttpRefusal{501, fmt::format("The method has {} bytes; {} are allowed, and none of so "
                                        "many is known.",
                                        method.size(), kMethodBytesMax)};
  }
  if (method == "CONNECT") return HttpRefusal{501, "This server is not a proxy."};
  return {};
}

// Only what names a resource of this server. The absolute form would bring a second host that
// may contradict the Host header, on which others rely.
Refused check_target(std::string_view method, std::string_view target, std::size_t bytes_max) {
  if (target.size() > bytes_max) {
    return HttpRefusal{414, fmt::format("The request target has {} bytes; {} are allowed.",
                                        target.size(), bytes_max)};
  }
  if (!is_target_text(target)) return bad("The request target holds what a URL may not.");
  if (target.front() == '/' || (target == "*" && method == "OPTIONS")) return {};
  return bad("The request target must begin with a slash.");
}

bool is_version(std::string_view text) {
  const auto digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  return text.size() == 8 && text.starts_with("HTTP/") && digit(text[5]) && text[6] == '.' &&
         digit(text[7]);
}

Refused parse_version(std::string_view text, HttpRequestHead& head) {
  if (!is_version(text)) return bad("The request line is not 'method target HTTP/1.1'.");
  if (text != "HTTP/1.1" && text != "HTTP/1.0") {
    return HttpRefusal{505, "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
  }
  head.http_1_0 = text.back() == '0';
  return {};
}

Refused parse_request_line(std::string_view line, std::size_t target_bytes_max,
                           HttpRequestHead& head) {
  std::string_view rest = line;
  const std::string_view method = take_word(rest);
  const std::string_view target = take_word(rest);
  if (Refused refused = check_method(method)) return refused;
  if (Refused refused = check_target(method, target, target_bytes_max)) return refused;
  if (Refused refused = parse_version(rest, head)) return refused;
  head.request.method = method;
  head.request.target = target;
  return {};
}

Refused parse_header(std::string_view line, HttpHeaders& headers) {
  if (line.front() == ' ' || line.front() == '\t') return bad("A header is folded.");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bad("A header has no colon.");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!is_token(name)) return bad("A header's name is not a token.");
  if (!is_field_value(value)) return bad("A header's value holds control characters.");
  headers.emplace_back(name, value);
  return {};
}

Refused parse_headers(std::string_view lines, const HttpServerLimits& limits,
                      HttpHeaders& headers) {
  const auto count = std::count(lines.begin(), lines.end(), '\n') - 1;
  if (std::cmp_greater(count, limits.headers_max)) {
    return HttpRefusal{
        431, fmt::format("There are {} headers; {} are allowed.", count, limits.headers_max)};
  }
  headers.reserve(static_cast<std::size_t>(count));
  while (true) {
    const std::string_view line = take_line(lines);
    if (line.empty()) return {};
    if (Refused refused = parse_header(line, headers)) return refused;
  }
}

// The header's value when there is exactly one of that name.
struct Sought {
  std::string_view name;
  std::string_view value{};
  int count = 0;
};

struct Framing {
  Sought host{"host"};
  Sought content_length{"content-length"};
  Sought transfer_encoding{"transfer-encoding"};
  Sought expect{"expect"};
  bool close = false;
  bool keep_alive = false;
};

void note_header(std::string_view name, std::string_view value, Framing& framing) {
  for (Sought* sought :
       {&framing.host, &framing.content_length, &framing.transfer_encoding, &framing.expect}) {
    if (!equal_ignoring_case(name, sought->name)) continue;
    sought->value = value;
    ++sought->count;
    return;
  }
  if (!equal_ignoring_case(name, "connection")) return;
  framing.close = framing.close || list_names(value, "close");
  framing.keep_alive = framing.keep_alive || list_names(value, "keep-alive");
}

Framing framing_of(const HttpHeaders& headers) {
  Framing framing;
  for (const auto& [name, value] : headers) note_header(name, value, framing);
  return framing;
}

Refused check_host(const Sought& host, bool http_1_0) {
  if (host.count > 1) return bad("There are several Host headers.");
  if (host.count == 0) return http_1_0 ? Refused{} : bad("There is no Host header.");
  return is_host(host.value) ? Refused{} : bad("The Host header is not a host.");
}

// Too many digits for a number are a length beyond any limit, not a malformed one.
std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  if (error != std::errc{}) return {};
  return length;
}

Refused parse_chunked(const Framing& framing, HttpRequestHead& head) {
  if (framing.content_length.count > 0) {
    return bad("Content-Length and Transfer-Encoding contradict each other.");
  }
  if (framing.transfer_encoding.count > 1) return bad("There are several Transfer-Encodings.");
  if (head.http_1_0) return bad("HTTP/1.0 has no Transfer-Encoding.");
  if (!equal_ignoring_case(framing.transfer_encoding.value, "chunked")) {
    return bad("The only Transfer-Encoding understood here is chunked.");
  }
  head.chunked = true;
  return {};
}

Refused parse_body_length(const Framing& framing, const HttpServerLimits& limits,
                          HttpRequestHead& head) {
  if (framing.transfer_encoding.count > 0) return parse_chunked(framing, head);
  if (framing.content_length.count == 0) return {};
  if (framing.content_length.count > 1) return bad("There are several Content-Lengths.");
  const std::optional<std::uint64_t> length = parse_length(framing.content_length.value);
  if (!length) return bad("The Content-Length is not a number.");
  if (*length > limits.body_bytes_max) {
    return HttpRefusal{
        413, fmt::format("The body has {} bytes; {} are allowed.", *length, limits.body_bytes_max)};
  }
  head.content_length = *length;
  return {};
}

Refused parse_expectation(const Framing& framing, HttpRequestHead& head) {
  if (framing.expect.count == 0 || head.http_1_0) return {};
  if (framing.expect.count > 1 || !equal_ignoring_case(framing.expect.value, "100-continue")) {
    return HttpRefusal{417, "The only expectation met here is 100-continue."};
  }
  head.expects_continue = true;
  return {};
}

Refused apply_framing(const HttpServerLimits& limits, HttpRequestHead& head) {
  const Framing framing = framing_of(head.request.headers);
  if (Refused refused = check_host(framing.host, head.http_1_0)) return refused;
  if (Refused refused = parse_body_length(framing, limits, head)) return refused;
  if (Refused refused = parse_expectation(framing, head)) return refused;
  head.keep_alive = !framing.close && (!head.http_1_0 || framing.keep_alive);
  return {};
}

}  // namespace

std::variant<HttpRequestHead, HttpRefusal> parse_request_head(std::string_view bytes,
                                                              const HttpServerLimits& limits) {
  ASSERT(bytes.ends_with("\r\n\r\n"));
  HttpRequestHead head;
  const std::string_view line = take_line(bytes);
  if (Refused refused = parse_request_line(line, limits.target_bytes_max, head)) return *refused;
  if (Refused refused = parse_headers(bytes, limits, head.request.headers)) return *refused;
  if (Refused refused = apply_framing(limits, head)) return *refused;
  return head;
}

}  // namespace belfry
