// SPDX-License-Identifier: MIT

#include "dispatch/service_bus_amqp.h"

#include <fmt/format.h>

#include "dispatch/endpoint_template.h"
#include "dispatch/http_messages.h"
#include "model/history.h"
#include "model/key.h"

namespace belfry {
namespace {

constexpr std::uint16_t kPortTls = 5671;
constexpr std::uint16_t kPortPlain = 5672;

bool names_port(const Url& url) {
  return url.authority != url.host && url.authority != fmt::format("[{}]", url.host);
}

void annotate(AmqpMessage& out, const char* name, const std::optional<std::string>& value) {
  if (value) out.annotations.emplace_back(name, *value);
}

std::string answer_message(std::string_view action, std::string_view host,
                           const AmqpRefusal& answer) {
  std::string message =
      fmt::format("{} Action - Response from host '{}': '{}'", action, host, answer.word);
  if (!answer.condition.empty()) message += " " + answer.condition;
  if (!answer.description.empty()) message += " " + answer.description;
  return as_utf8(std::string_view(message).substr(0, kHistoryBodyBytesMax));
}

}  // namespace

std::optional<AmqpEndpoint> amqp_endpoint_of(std::string_view pattern,
                                             std::string_view service_namespace) {
  const std::string text = replaced(pattern, kNamespacePlaceholder, service_namespace);
  const bool tls = folded(text).starts_with("amqps://");
  if (!tls && !folded(text).starts_with("amqp://")) return std::nullopt;
  const auto url = parse_url("http" + text.substr(4));
  if (!url || url->target != "/") return std::nullopt;
  const std::uint16_t port = names_port(*url) ? url->port : tls ? kPortTls : kPortPlain;
  return AmqpEndpoint{tls, url->host, port};
}

AmqpMessage service_bus_amqp_message(const ServiceBusMessage& message, const Attempt& attempt) {
  const BrokeredProperties& brokered = message.brokered;
  AmqpMessage out;
  out.durable = brokered.force_persistence.value_or(true);
  if (brokered.time_to_live) out.time_to_live = std::chrono::ceil<Millis>(*brokered.time_to_live);
  out.message_id = message_id_of(message, attempt);
  out.to = brokered.to;
  out.subject = brokered.label;
  out.reply_to = brokered.reply_to;
  out.correlation_id = brokered.correlation_id;
  out.content_type = brokered.content_type;
  out.group_id = brokered.session_id;
  out.reply_to_group_id = brokered.reply_to_session_id;
  annotate(out, "x-opt-partition-key", brokered.partition_key);
  annotate(out, "x-opt-via-partition-key", brokered.via_partition_key);
  if (brokered.scheduled_enqueue_time) {
    out.annotations.emplace_back("x-opt-scheduled-enqueue-time", *brokered.scheduled_enqueue_time);
  }
  out.properties = message.custom;
  out.body = message.text;
  return out;
}

Result<AmqpCall> service_bus_amqp_call(const ServiceBusTarget& target, const Attempt& attempt,
                                       const SharedAccessKey& key, const ServiceBusOptions& options,
                                       const Clock& clock) {
  const auto endpoint = amqp_endpoint_of(options.amqp_endpoint, target.message.service_namespace);
  if (!endpoint) {
    return Error{
        ErrorCode::invalid,
        fmt::format("Namespace '{}' and the setting service-bus-amqp-endpoint make no address",
                    target.message.service_namespace),
        {}};
  }
  AmqpCall call;
  call.broker = {endpoint->tls,      endpoint->host, endpoint->port,
                 options.amqp_login, key.name,       key.key.reveal()};
  call.address =
      replaced(replaced(options.amqp_address, "{kind}", target.kind), "{entity}", target.entity);
  call.audience = fmt::format("sb://{}/{}", endpoint->host, target.entity);
  call.token = [audience = call.audience, key, lifetime = options.token_lifetime, &clock] {
    return AmqpToken{shared_access_signature(audience, key, clock.now() + lifetime), lifetime};
  };
  call.message = encode_amqp_message(service_bus_amqp_message(target.message, attempt));
  return call;
}

Outcome amqp_outcome(std::string_view action, std::string_view host, const AmqpOutcome& outcome) {
  Outcome out;
  if (const auto* failure = std::get_if<HttpFailure>(&outcome)) {
    out.message = failure_message(host, *failure, action);
  } else if (const auto* refusal = std::get_if<AmqpRefusal>(&outcome)) {
    out.message = answer_message(action, host, *refusal);
  } else {
    out.succeeded = true;
    out.message = answer_message(action, host, {"Accepted", {}, {}});
  }
  return out;
}

}  // namespace belfry
