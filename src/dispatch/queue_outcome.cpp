// SPDX-License-Identifier: MIT

#include "dispatch/queue_outcome.h"

#include "dispatch/http_messages.h"

namespace belfry {
namespace {

constexpr int kCreated = 201;

}  // namespace

Outcome queue_outcome(std::string_view action, std::string_view host, const HttpResult& result) {
  Outcome outcome;
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) {
    outcome.succeeded = reply->status == kCreated;
    outcome.message = response_message(host, *reply, action);
  } else {
    outcome.message = failure_message(host, std::get<HttpFailure>(result.what), action);
  }
  return outcome;
}

}  // namespace belfry
