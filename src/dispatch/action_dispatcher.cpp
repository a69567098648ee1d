// SPDX-License-Identifier: MIT

#include "dispatch/action_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "dispatch/http_messages.h"
#include "dispatch/queue_outcome.h"
#include "dispatch/service_bus_amqp.h"

namespace belfry {
namespace {

const Action& action_of(const Job& job, ActionRole role) {
  if (role == ActionRole::main) return job.definition.action;
  ASSERT(job.definition.error_action);
  return *job.definition.error_action;
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
  TRY_ASSIGN(std::unique_ptr<AmqpClient> amqp,
             AmqpClient::start({.container = options.identity.user_agent,
                                .limits = options.amqp,
                                .guard = options.http.guard,
                                .resolve = options.http.resolve,
                                .tls = options.http.tls}));
  TRY_ASSIGN(std::unique_ptr<HttpClient> http, HttpClient::start(std::move(options.http)));
  return std::unique_ptr<ActionDispatcher>(
      new ActionDispatcher(std::move(options), std::move(http), std::move(amqp), clock));
}

bool ActionDispatcher::send(const Attempt& attempt, const Job& job) {
  const Action& action = action_of(job, attempt.role);
  if (const auto* http = std::get_if<HttpAction>(&action.what)) {
    return send_http(*http, attempt, job);
  }
  if (const auto* queue = std::get_if<StorageQueueAction>(&action.what)) {
    return send_storage_queue(*queue, attempt, job);
  }
  if (const auto* queue = std::get_if<ServiceBusQueueAction>(&action.what)) {
    return send_service_bus(service_bus_target(*queue), attempt);
  }
  return send_service_bus(service_bus_target(std::get<ServiceBusTopicAction>(action.what)),
                          attempt);
}

bool ActionDispatcher::send_http(const HttpAction& action, const Attempt& attempt, const Job& job) {
  Result<HttpCall> call = http_call_of(action, attempt, job, options_.identity, new_ids());
  if (!call) {
    return report_unsendable(attempt, fmt::format("Http Action - {}.", call.error().message));
  }
  call->timeout = options_.timeout;
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

bool ActionDispatcher::send_storage_queue(const StorageQueueAction& action, const Attempt& attempt,
                                          const Job& job) {
  return put_message("StorageQueue",
                     storage_queue_call_of(action, attempt, job, options_.identity, new_ids(),
                                           options_.storage_queue),
                     attempt, std::string(signature_in(action.sas_token.reveal())));
}

bool ActionDispatcher::send_service_bus(const ServiceBusTarget& target, const Attempt& attempt) {
  const Result<SharedAccessKey> key =
      shared_access_key_of(target.message, options_.service_bus.keys);
  if (!key) return put_message(target.action, key.error(), attempt, {});
  if (target.message.transport == Transport::amqp) return send_amqp(target, *key, attempt);
  const ServiceBusCall how{options_.service_bus.endpoint, options_.identity.user_agent,
                           token_clock().now() + options_.service_bus.token_lifetime};
  Result<HttpCall> call = service_bus_call_of(target, attempt, *key, how);
  std::string secret(call ? signature_in(header_of(call->headers, "Authorization")) : "");
  return put_message(target.action, std::move(call), attempt, std::move(secret));
}

bool ActionDispatcher::put_message(std::string_view action, Result<HttpCall> call,
                                   const Attempt& attempt, std::string secret) {
  if (!call) {
    return report_unsendable(attempt, fmt::format("{} Action - {}.", action, call.error().message));
  }
  call->timeout = options_.timeout;
  std::string host = call->origin.host;
  return http_->send(*std::move(call),
                     [this, action, attempt, accepted = clock_.now(), host = std::move(host),
                      secret = std::move(secret)](const HttpResult& result) {
                       Outcome outcome = queue_outcome(action, host, result, secret);
                       outcome.ended = clock_.now();
                       outcome.started = std::min(accepted + result.waited, outcome.ended);
                       options_.report(attempt, std::move(outcome));
                     });
}

bool ActionDispatcher::send_amqp(const ServiceBusTarget& target, const SharedAccessKey& key,
                                 const Attempt& attempt) {
  Result<AmqpCall> call =
      service_bus_amqp_call(target, attempt, key, options_.service_bus, token_clock());
  if (!call) return put_message(target.action, call.error(), attempt, {});
  call->timeout = options_.timeout;
  std::string host = call->broker.host;
  return amqp_->send(*std::move(call),
                     [this, action = target.action, attempt, accepted = clock_.now(),
                      host = std::move(host)](const AmqpResult& result) {
                       Outcome outcome = amqp_outcome(action, host, result.what);
                       outcome.ended = clock_.now();
                       outcome.started = std::min(accepted + result.waited, outcome.ended);
                       options_.report(attempt, std::move(outcome));
                     });
}

const Clock& ActionDispatcher::token_clock() const {
  return options_.token_clock != nullptr ? *options_.token_clock : clock_;
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
  amqp_->drain(grace);
  amqp_->stop();
}

}  // namespace belfry
