// SPDX-License-Identifier: MIT
//
// parse_request_head() reads a request's head: the request line, the headers, and what they say
// about where the body ends. It is written by hand and strict: where two readers of HTTP might
// take the same bytes for different requests (two lengths, folded lines, a lone line feed, a
// space before the colon), a proxy before us could be made to see another request than we do,
// so such a head is refused and never repaired. Pure; touches no socket.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "net/http.h"
#include "net/http_server_limits.h"

namespace belfry {

// Why a request is not served: the status of the answer, and a sentence for it.
struct HttpRefusal {
  int status = 400;
  std::string what;
};

inline constexpr std::size_t kMethodBytesMax = 32;

struct HttpRequestHead {
  HttpRequest request;  // all but body and remote address
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool expects_continue = false;
  bool http_1_0 = false;
  bool keep_alive = true;
};

// `head` ends with its empty line.
std::variant<HttpRequestHead, HttpRefusal> parse_request_head(std::string_view head,
                                                              const HttpServerLimits& limits);

}  // namespace belfry
