// SPDX-License-Identifier: MIT

#include "dispatch/queue_outcome.h"

#include "dispatch/endpoint_template.h"
#include "dispatch/http_messages.h"

namespace belfry {
namespace {

constexpr int kCreated = 201;

}  // namespace

Outcome queue_outcome(std::string_view action, std::string_view host, const HttpResult& result,
                      std::string_view secret) {
  Outcome outcome;
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) {
    outcome.succeeded = reply->status == kCreated;
    outcome.message = response_message(host, *reply, action);
  } else {
    outcome.message = failure_message(host, std::get<HttpFailure>(result.what), action);
  }
  if (!secret.empty()) outcome.message = replaced(outcome.message, secret, "***");
  return outcome;
}

std::string_view signature_in(std::string_view token) {
  std::size_t begin = token.starts_with("sig=") ? 0 : token.find("&sig=");
  if (begin == std::string_view::npos) begin = token.find("?sig=");
  if (begin == std::string_view::npos) return {};
  begin = token.find('=', begin) + 1;
  return token.substr(begin, token.find('&', begin) - begin);
}

}  // namespace belfry
