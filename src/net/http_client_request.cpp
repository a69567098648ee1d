// SPDX-License-Identifier: MIT

#include "net/http_client_request.h"

#include <algorithm>

#include "base/ascii.h"
#include "net/http_proxy.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

// They say where a message ends and to whom it goes: a second one would say something else.
bool is_ours(std::string_view name) {
  constexpr std::string_view kOurs[] = {"host", "content-length", "transfer-encoding", "connection",
                                        "proxy-authorization"};
  return std::any_of(std::begin(kOurs), std::end(kOurs),
                     [&](std::string_view ours) { return equal_ignoring_case(name, ours); });
}

bool may_be_sent(const HttpCall& call) {
  if (!is_token(call.method) || call.method == "CONNECT") return false;
  if (!is_target_text(call.target) || !is_host(call.authority)) return false;
  return std::all_of(call.headers.begin(), call.headers.end(), [](const auto& header) {
    return is_token(header.first) && is_field_value(header.second) && !is_ours(header.first);
  });
}

// Servers want to be told that such a request has no body; in others the silence says it.
bool needs_length(const HttpCall& call) {
  return !call.body.empty() || call.method == "POST" || call.method == "PUT" ||
         call.method == "PATCH";
}

std::size_t size_estimate(const HttpCall& call) {
  constexpr std::size_t kFixedParts = 80;
  std::size_t size = kFixedParts + call.method.size() + call.target.size() + call.authority.size() +
                     call.body.size();
  for (const auto& [name, value] : call.headers) size += name.size() + value.size() + 4;
  return size;
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::optional<std::string> render_http_call(const HttpCall& call, const HttpProxy* proxy) {
  if (!may_be_sent(call)) return std::nullopt;
  std::string out;
  out.reserve(size_estimate(call));
  out.append(call.method).append(" ");
  const bool absolute = proxy != nullptr && !call.origin.https;
  if (absolute) out.append("http://").append(call.authority);
  out.append(call.target).append(" HTTP/1.1\r\n");
  append_header("Host", call.authority, out);
  if (absolute && !proxy->authorization.empty()) {
    append_header("Proxy-Authorization", proxy->authorization, out);
  }
  for (const auto& [name, value] : call.headers) append_header(name, value, out);
  if (needs_length(call)) append_header("Content-Length", std::to_string(call.body.size()), out);
  out += "\r\n";
  out += call.body;
  return out;
}

}  // namespace belfry
