// SPDX-License-Identifier: MIT

#include "api/gate.h"

#include <algorithm>

#include "model/key.h"
#include "model/url.h"

namespace belfry {
namespace {

bool is_loopback_name(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  const bool numeric = std::all_of(host.begin(), host.end(),
                                   [](char c) { return c == '.' || ('0' <= c && c <= '9'); });
  return numeric && host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3;
}

}  // namespace

bool is_loopback_authority(std::string_view authority) {
  const auto url = parse_url("http://" + std::string(authority));
  return url && url->target == "/" && is_loopback_name(url->host);
}

Result<Permit> Gate::admit(const HttpRequest& request) const {
  const std::string_view host = header_of(request.headers, "Host");
  if (!is_loopback_authority(host)) {
    return Error{ErrorCode::forbidden,
                 "In local mode the Host header must name this machine (localhost, 127.0.0.1 or "
                 "[::1]).",
                 "Host"};
  }
  const std::string_view origin = header_of(request.headers, "Origin");
  if (!origin.empty() && folded(origin) != "http://" + folded(host)) {
    return Error{ErrorCode::forbidden,
                 "In local mode requests from pages of another origin are refused.", "Origin"};
  }
  return Permit();
}

}  // namespace belfry
