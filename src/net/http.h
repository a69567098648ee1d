// SPDX-License-Identifier: MIT
//
// An HTTP request and an HTTP response as plain values: what the server hands to its handler
// and gets back. No header of the HTTP library is seen outside net/*.cpp.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace belfry {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The first header of that name, compared without regard to case; empty when there is none.
std::string_view header_of(const HttpHeaders& headers, std::string_view name);

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, as it came
  HttpHeaders headers;
  std::string body;
  std::string remote_address;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
};

}  // namespace belfry
