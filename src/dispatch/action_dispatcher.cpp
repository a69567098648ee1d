// SPDX-License-Identifier: MIT

#include "dispatch/action_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "dispatch/http_messages.h"

namespace belfry {
namespace {

const Action& action_of(const Job& job, ActionRole role) {
  if (role == ActionRole::main) return job.definition.action;
  ASSERT(job.definition.error_action);
  return *job.definition.error_action;
}

std::string_view name_of(const Action& action) {
  struct Name {
    std::string_view operator()(const HttpAction&) const { return "Http"; }
    std::string_view operator()(const StorageQueueAction&) const { return "StorageQueue"; }
    std::string_view operator()(const ServiceBusQueueAction&) const { return "ServiceBusQueue"; }
    std::string_view operator()(const ServiceBusTopicAction&) const { return "ServiceBusTopic"; }
  };
  return std::visit(Name{}, action.what);
}

bool is_success(int status) {
  return 200 <= status && status < 300;
}

Outcome outcome_of(const std::string& host, const HttpResult& result) {
  Outcome outcome;
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) {
    outcome.succeeded = is_success(reply->status);
    outcome.message = response_message(host, *reply);
  } else {
    outcome.message = failure_message(host, std::get<HttpFailure>(result.what));
  }
  return outcome;
}

}  // namespace

Result<std::unique_ptr<ActionDispatcher>> ActionDispatcher::start(Options options,
                                                                  const Clock& clock) {
  ASSERT(options.report);
  TRY_ASSIGN(std::unique_ptr<HttpClient> http, HttpClient::start(std::move(options.http)));
  return std::unique_ptr<ActionDispatcher>(
      new ActionDispatcher(std::move(options), std::move(http), clock));
}

bool ActionDispatcher::send(const Attempt& attempt, const Job& job) {
  const Action& action = action_of(job, attempt.role);
  if (const auto* http = std::get_if<HttpAction>(&action.what)) {
    return send_http(*http, attempt, job);
  }
  return report_unsendable(
      attempt,
      fmt::format("{} Action - This version of Belfry cannot send it yet.", name_of(action)));
}

bool ActionDispatcher::send_http(const HttpAction& request, const Attempt& attempt,
                                 const Job& job) {
  Result<HttpCall> call = http_call_of(request, attempt, job, options_.identity, new_ids());
  if (!call) {
    return report_unsendable(attempt, fmt::format("Http Action - {}.", call.error().message));
  }
  call->timeout = timeout_of(action_of(job, attempt.role));
  call->owner = folded(job.key.collection);
  std::string host = call->origin.host;
  // It began when its turn came, not when we took it: a queue must show as lateness.
  return http_->send(*std::move(call), [this, attempt, accepted = clock_.now(),
                                        host = std::move(host)](const HttpResult& result) {
    Outcome outcome = outcome_of(host, result);
    outcome.ended = clock_.now();
    outcome.started = std::min(accepted + result.waited, outcome.ended);
    options_.report(attempt, std::move(outcome));
  });
}

Millis ActionDispatcher::timeout_of(const Action& action) const {
  return action.timeout ? std::chrono::ceil<Millis>(*action.timeout) : options_.timeout;
}

bool ActionDispatcher::report_unsendable(const Attempt& attempt, std::string message) {
  const Instant now = clock_.now();
  options_.report(attempt, {false, std::move(message), now, now});
  return true;
}

SendIds ActionDispatcher::new_ids() {
  Random& random = options_.random;
  return {random.next(), random.next(), random.next()};
}

void ActionDispatcher::stop(Millis grace) {
  http_->drain(grace);
  http_->stop();
}

}  // namespace belfry
