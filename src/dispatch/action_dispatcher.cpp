// SPDX-License-Identifier: MIT

#include "dispatch/action_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "dispatch/http_messages.h"
#include "dispatch/masked_result.h"
#include "dispatch/queue_outcome.h"
#include "dispatch/service_bus_amqp.h"
#include "net/pfx.h"

namespace belfry {
namespace {

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
  if (!options.http.tls) {
    TRY_ASSIGN(options.http.tls, TlsClient::make({}));
  }
  std::shared_ptr<const TlsClient> anybody = options.http.tls;
  TRY_ASSIGN(std::unique_ptr<AmqpClient> amqp,
             AmqpClient::start({.container = options.identity.user_agent,
                                .limits = options.amqp,
                                .guard = options.http.guard,
                                .resolve = options.http.resolve,
                                .tls = anybody}));
  TRY_ASSIGN(std::unique_ptr<HttpClient> http, HttpClient::start(std::move(options.http)));
  return std::unique_ptr<ActionDispatcher>(new ActionDispatcher(
      std::move(options), std::move(http), std::move(amqp), std::move(anybody), clock));
}

ActionDispatcher::ActionDispatcher(Options options, std::unique_ptr<HttpClient> http,
                                   std::unique_ptr<AmqpClient> amqp,
                                   std::shared_ptr<const TlsClient> tls, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      token_clock_(options_.token_clock != nullptr ? *options_.token_clock : clock),
      http_(std::move(http)),
      amqp_(std::move(amqp)),
      identities_(tls),
      tokens_(options_.oauth, *http_, token_clock_),
      preflight_([this](const Attempt& attempt, const Job& job) { return rendered(attempt, job); },
                 *http_, tokens_, tls, token_clock_, options_.held) {}

ActionDispatcher::~ActionDispatcher() {
  http_->stop();
  amqp_->stop();
}

bool ActionDispatcher::send(const Attempt& attempt, const Job& job, Instant not_before) {
  const Action& action = action_of(job, attempt.role);
  Errand errand{attempt, job, timeout_of(action), not_before};
  if (attempt.role == ActionRole::error && !tell_what_failed(errand)) return false;
  return std::visit([&](const auto& what) { return perform(what, errand); }, action.what);
}

// False: what failed cannot be read now. It is asked for again, as where there is no room.
bool ActionDispatcher::tell_what_failed(Errand& errand) const {
  if (!options_.last_failed) return true;
  const auto row = options_.last_failed(errand.attempt);
  if (!row) return false;
  errand.failed = failed_attempt_headers(errand.attempt, *row, SecretMask(errand.job.definition));
  return true;
}

bool ActionDispatcher::perform(const HttpAction& action, const Errand& errand) {
  const Result<HttpOrigin> origin = origin_of(action);
  if (!origin) return call(origin.error(), errand, "Http", {});
  const Authentication* how = action.authentication ? &*action.authentication : nullptr;
  HttpDestination to{*origin, folded(errand.job.key->collection), {}};
  if (const auto* certificate = std::get_if<ClientCertificate>(how)) {
    // Stored by an older version; it waits until its file was opened.
    if (!is_kept_pfx(certificate->pfx.reveal())) return false;
    const auto identity = identities_.of(*certificate);
    if (!identity) return call(identity.error(), errand, "Http", {});
    to.tls = *identity;
  }
  HttpClient::Make make = maker_of(errand, to.tls);
  if (const auto* who = std::get_if<ActiveDirectoryOAuth>(how)) {
    return call_with_token(*who, make(), std::move(to), errand);
  }
  auto understand = [host = origin->host](const HttpResult& result) {
    return outcome_of(host, result);
  };
  return http_->send(
      std::move(to), hold_until(errand.not_before), std::move(make),
      reporter_of(errand.attempt, {errand.job.definition, ""}, std::move(understand)));
}

// The ids are drawn here: chance is the engine's thread's.
HttpClient::Make ActionDispatcher::maker_of(const Errand& errand,
                                            std::shared_ptr<const TlsClient> tls) {
  return [this, job = errand.job, attempt = errand.attempt, timeout = errand.timeout,
          failed = errand.failed, ids = new_ids(), tls = std::move(tls)] {
    const auto& action = std::get<HttpAction>(action_of(job, attempt.role).what);
    Result<HttpCall> made = http_call_of(action, attempt, job, options_.identity, ids);
    ASSERT(made);  // origin_of() found the same address
    add_headers(*made, failed);
    made->timeout = timeout;
    made->tls = tls;
    made->body_kept_bytes_max = body_kept_for(SecretMask(job.definition));
    return *std::move(made);
  };
}

// The attempt's time is for both: what the token takes is not left for the call. There is room for
// the call before the token is asked for: or else it would have to fail for our own limits.
bool ActionDispatcher::call_with_token(const ActiveDirectoryOAuth& who, HttpCall call,
                                       HttpDestination to, const Errand& errand) {
  std::optional<HttpRoom> reserved = http_->reserve(std::move(to));
  if (!reserved) return false;
  const auto room = std::make_shared<HttpRoom>(*std::move(reserved));
  const auto go_on = [this, who, call, room, attempt = errand.attempt, timeout = errand.timeout,
                      definition = errand.job.definition, began = token_clock_.now(),
                      not_before = errand.not_before](const Result<std::string>& token) {
    if (!token) {
      return fail(attempt, fmt::format("Http Action - {}.", token.error().message));
    }
    HttpCall with_token = call;
    add_bearer_token(with_token, *token);
    const auto taken = std::chrono::floor<Millis>(token_clock_.now() - began);
    with_token.timeout = std::max(timeout - taken, Millis{1});
    with_token.hold = hold_until(not_before);
    const auto understand = [this, who, token = *token,
                             host = call.origin.host](const HttpResult& result) {
      const auto* reply = std::get_if<HttpReply>(&result.what);
      if (reply != nullptr && reply->status == 401) tokens_.forget(who, token);
      return outcome_of(host, result);
    };
    const Sent sent{definition, *token};
    with_token.body_kept_bytes_max = body_kept_for(mask_of(sent));
    http_->send(std::move(*room), std::move(with_token), reporter_of(attempt, sent, understand));
  };
  return tokens_.obtain(who, errand.timeout, go_on);
}

bool ActionDispatcher::perform(const StorageQueueAction& action, const Errand& errand) {
  Result<HttpCall> made = storage_queue_call_of(
      action, errand.attempt, errand.job, options_.identity, new_ids(), options_.storage_queue);
  std::string host = made ? made->origin.host : "";
  return call(std::move(made), errand, "StorageQueue", [=](const HttpResult& result) {
    return queue_outcome("StorageQueue", host, result);
  });
}

bool ActionDispatcher::perform(const ServiceBusQueueAction& action, const Errand& errand) {
  return put_on_service_bus(service_bus_target(action), errand);
}

bool ActionDispatcher::perform(const ServiceBusTopicAction& action, const Errand& errand) {
  return put_on_service_bus(service_bus_target(action), errand);
}

bool ActionDispatcher::put_on_service_bus(const ServiceBusTarget& target, const Errand& errand) {
  if (errand.failed.empty()) return put_message(target, errand);
  const ServiceBusMessage telling = with_properties(target.message, errand.failed);
  return put_message({target.action, target.kind, target.entity, telling}, errand);
}

bool ActionDispatcher::put_message(const ServiceBusTarget& target, const Errand& errand) {
  if (target.message.transport == Transport::amqp) return put_on_broker(target, errand);
  Result<HttpCall> made = service_bus_call(target, errand.attempt);
  std::string host = made ? made->origin.host : "";
  return call(std::move(made), errand, target.action,
              [action = target.action, host](const HttpResult& result) {
                return queue_outcome(action, host, result);
              });
}

Result<HttpCall> ActionDispatcher::service_bus_call(const ServiceBusTarget& target,
                                                    const Attempt& attempt) const {
  TRY_ASSIGN(const SharedAccessKey key,
             shared_access_key_of(target.message, options_.service_bus.keys));
  const ServiceBusCall how{options_.service_bus.endpoint, options_.identity.user_agent,
                           token_expiry()};
  return service_bus_call_of(target, attempt, key, how);
}

bool ActionDispatcher::put_on_broker(const ServiceBusTarget& target, const Errand& errand) {
  const auto key = shared_access_key_of(target.message, options_.service_bus.keys);
  if (!key) return call(key.error(), errand, target.action, {});
  Result<AmqpCall> made =
      service_bus_amqp_call(target, errand.attempt, *key, options_.service_bus, token_clock_);
  if (!made) return call(made.error(), errand, target.action, {});
  made->owner = folded(errand.job.key->collection);
  made->timeout = errand.timeout;
  made->hold = hold_until(errand.not_before);
  std::string host = made->broker.host;
  const Sent sent{errand.job.definition, key->key.reveal()};
  return amqp_->send(*std::move(made), [this, action = target.action, attempt = errand.attempt,
                                        sent, accepted = clock_.now(),
                                        host = std::move(host)](const AmqpResult& result) {
    Outcome outcome = amqp_outcome(action, host, masked(result.what, mask_of(sent)));
    outcome.ended = clock_.now();
    outcome.started = std::min(accepted + result.waited, outcome.ended);
    options_.report(attempt, std::move(outcome));
  });
}

Millis ActionDispatcher::timeout_of(const Action& action) const {
  return action.timeout ? std::chrono::ceil<Millis>(*action.timeout) : options_.timeout;
}

bool ActionDispatcher::call(Result<HttpCall> call, const Errand& errand, std::string_view action,
                            Understand understand) {
  if (!call) {
    fail(errand.attempt, fmt::format("{} Action - {}.", action, call.error().message));
    return true;
  }
  call->timeout = errand.timeout;
  call->hold = hold_until(errand.not_before);
  call->owner = folded(errand.job.key->collection);
  Sent sent{errand.job.definition, std::string(header_of(call->headers, "Authorization"))};
  call->body_kept_bytes_max = body_kept_for(mask_of(sent));
  return http_->send(*std::move(call),
                     reporter_of(errand.attempt, std::move(sent), std::move(understand)));
}

SecretMask ActionDispatcher::mask_of(const Sent& sent) {
  SecretMask mask(sent.definition);
  mask.add_signed(sent.credential);
  return mask;
}

// It began when its turn came, not when we took it: a queue must show as lateness.
HttpClient::Done ActionDispatcher::reporter_of(const Attempt& attempt, Sent sent,
                                               Understand understand) const {
  return [this, attempt, sent = std::move(sent), accepted = clock_.now(),
          understand = std::move(understand)](const HttpResult& result) {
    Outcome outcome = understand(masked(result, mask_of(sent)));
    outcome.ended = clock_.now();
    outcome.started = std::min(accepted + result.waited, outcome.ended);
    options_.report(attempt, std::move(outcome));
  };
}

Ticks ActionDispatcher::hold_until(Instant not_before) const {
  return std::max(not_before - clock_.now(), Ticks{0});
}

Instant ActionDispatcher::token_expiry() const {
  return token_clock_.now() + options_.service_bus.token_lifetime;
}

void ActionDispatcher::preflight(const Job& job, ActionRole role, PreflightRunner::Done done) {
  preflight_.run(job, role, timeout_of(action_of(job, role)), std::move(done));
}

// With ids of nothing but zeros: it is not going to be sent.
Result<HttpCall> ActionDispatcher::rendered(const Attempt& attempt, const Job& job) const {
  const Action& action = action_of(job, attempt.role);
  if (const auto* http = std::get_if<HttpAction>(&action.what)) {
    return http_call_of(*http, attempt, job, options_.identity, SendIds{});
  }
  if (const auto* queue = std::get_if<StorageQueueAction>(&action.what)) {
    return storage_queue_call_of(*queue, attempt, job, options_.identity, SendIds{},
                                 options_.storage_queue);
  }
  const auto* queue = std::get_if<ServiceBusQueueAction>(&action.what);
  const ServiceBusTarget target =
      queue != nullptr ? service_bus_target(*queue)
                       : service_bus_target(std::get<ServiceBusTopicAction>(action.what));
  if (target.message.transport == Transport::amqp) return rendered_for_broker(target, attempt);
  return service_bus_call(target, attempt);
}

// As much of a message for a broker as a call can show: where it goes, and the text.
Result<HttpCall> ActionDispatcher::rendered_for_broker(const ServiceBusTarget& target,
                                                       const Attempt& attempt) const {
  TRY_ASSIGN(const SharedAccessKey key,
             shared_access_key_of(target.message, options_.service_bus.keys));
  TRY_ASSIGN(const AmqpCall message,
             service_bus_amqp_call(target, attempt, key, options_.service_bus, token_clock_));
  HttpCall call;
  call.origin = {message.broker.tls, message.broker.host, message.broker.port};
  call.method = kAmqpPreflightMethod;
  call.authority = fmt::format("{}:{}", message.broker.host, message.broker.port);
  call.target = "/" + message.address;
  call.body = target.message.text;
  return call;
}

void ActionDispatcher::fail(const Attempt& attempt, std::string message) {
  const Instant now = clock_.now();
  options_.report(attempt, {false, std::move(message), now, now});
}

SendIds ActionDispatcher::new_ids() {
  Random& random = options_.random;
  return {random.next(), random.next(), random.next()};
}

std::vector<TargetLoad> ActionDispatcher::loads() const {
  std::vector<TargetLoad> all = http_->loads();
  std::vector<TargetLoad> brokers = amqp_->loads();
  std::move(brokers.begin(), brokers.end(), std::back_inserter(all));
  return all;
}

void ActionDispatcher::stop(Millis grace) {
  http_->drain(grace);
  http_->stop();
  amqp_->drain(grace);
  amqp_->stop();
}

}  // namespace belfry
