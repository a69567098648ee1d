// SPDX-License-Identifier: MIT

#include "wire/action_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/xml_text.h"
#include "wire/authentication_json.h"
#include "wire/http_action_json.h"
#include "wire/iso8601.h"
#include "wire/service_bus_json.h"

namespace belfry {
namespace {

enum class ActionType { http, https, storage_queue, service_bus_queue, service_bus_topic };

constexpr Spelling<ActionType> kActionTypes[] = {
    {"Http", ActionType::http},
    {"Https", ActionType::https},
    {"StorageQueue", ActionType::storage_queue},
    {"ServiceBusQueue", ActionType::service_bus_queue},
    {"ServiceBusTopic", ActionType::service_bus_topic},
};

constexpr Spelling<RetryType> kRetryTypes[] = {
    {"none", RetryType::none},
    {"fixed", RetryType::fixed},
};

constexpr std::size_t kStorageNameBytesMax = 63;
constexpr std::size_t kQueueTextBytesMax = 64 * 1024;  // the service's limit, encoded
constexpr std::size_t kQueueEnvelopeBytes = 1024;      // around the message; names have 100 each

// It becomes part of an address as it is.
Secret read_sas_token(ObjectReader& message) {
  Secret token = required_secret(message, "sasToken");
  const std::string& text = token.reveal();
  const bool fits = std::all_of(text.begin(), text.end(),
                                [](char c) { return '!' <= c && c <= '~' && c != '#'; });
  if (!fits) message.fail("sasToken", "must be a query string without blanks.");
  return token;
}

// In base64 four characters stand for three bytes.
void check_queue_message(const std::string& text, ObjectReader& message) {
  if (!is_xml_text(text)) {
    message.fail("message", "holds a control character that queue messages cannot hold.");
  }
  const std::size_t bytes = (xml_escaped_size(text) + kQueueEnvelopeBytes + 2) / 3 * 4;
  if (bytes > kQueueTextBytesMax) {
    message.fail("message", fmt::format("is {} bytes as it goes on the queue, in its envelope and "
                                        "in base64; at most {} are allowed.",
                                        bytes, kQueueTextBytesMax));
  }
}

StorageQueueAction read_storage_queue(ObjectReader message) {
  StorageQueueAction out;
  out.storage_account = required_name(message, "storageAccount", kStorageNameBytesMax);
  out.queue_name = required_name(message, "queueName", kStorageNameBytesMax);
  out.sas_token = read_sas_token(message);
  out.message = message.text("message", kMessageBytesMax).value_or("");
  check_queue_message(out.message, message);
  return out;
}

// The one payload that the type selects; the others are not looked at.
template <typename Read>
auto read_payload(ObjectReader& action, std::string_view name, Read read)
    -> std::optional<decltype(read(std::declval<ObjectReader>()))> {
  auto payload = action.object(name);
  if (payload) return read(std::move(*payload));
  if (action.find(name) == nullptr) {
    action.fail(name,
                fmt::format("is missing: an action of this type is described by '{}'.", name));
  }
  return std::nullopt;
}

RetryPolicy read_policy(ObjectReader policy) {
  RetryPolicy out;
  if (policy.find("retryType") == nullptr) policy.fail("retryType", "is missing: none or fixed.");
  const auto type = policy.choice("retryType", kRetryTypes);
  const auto count = policy.integer("retryCount", 0, kRetryCountMax);
  const auto interval = policy.text("retryInterval", kDurationBytesMax);
  if (!type || *type == RetryType::none) return RetryPolicy{RetryType::none, {}, {}};
  if (count) out.count = static_cast<int>(*count);
  if (!interval) return out;
  out.interval = parse_duration(*interval);
  if (!out.interval || *out.interval < kRetryIntervalMin || *out.interval > kRetryIntervalMax) {
    policy.fail("retryInterval",
                fmt::format("must be a duration from 15 seconds to 18 months such as 'PT30S' or "
                            "'00:00:30'; it is '{}'.",
                            *interval));
  }
  return out;
}

// Ours; Azure's service had one time-out for all jobs.
std::optional<Ticks> read_timeout(ObjectReader& holder) {
  const auto text = holder.text("timeout", kDurationBytesMax);
  if (!text) return std::nullopt;
  const auto timeout = parse_duration(*text);
  if (timeout && kActionTimeoutMin <= *timeout && *timeout <= kActionTimeoutMax) return timeout;
  holder.fail("timeout", fmt::format("must be a duration from 1 second to 30 minutes such as "
                                     "'PT30S' or '00:00:30'; it is '{}'.",
                                     *text));
  return std::nullopt;
}

// What stands beside the payload that the type selects is of no use, and named; clients with types
// send null for what they do not set.
void skip_empty_payloads(ObjectReader& action) {
  for (const auto* name :
       {"request", "queueMessage", "serviceBusQueueMessage", "serviceBusTopicMessage"}) {
    action.skip_null(name);
  }
}

// Each writes its payload under the name its type gives it, and the type.
struct PayloadWriter {
  JsonWriter& out;
  const WriteOptions& options;

  void operator()(const HttpAction& action) const {
    out.name("request");
    write_http_action(out, action, options.secrets);
    out.member("type", action.declared_https ? "Https" : "Http");
  }
  void operator()(const StorageQueueAction& action) const {
    out.object("queueMessage", [&] {
      out.member("storageAccount", action.storage_account);
      out.member("queueName", action.queue_name);
      if (options.secrets == Secrets::name) out.member("sasToken", sealed_name(action.sas_token));
      out.member("message", action.message);
    });
    out.member("type", "StorageQueue");
  }
  void operator()(const ServiceBusQueueAction& action) const {
    out.name("serviceBusQueueMessage");
    write_service_bus_queue(out, action, options);
    out.member("type", "ServiceBusQueue");
  }
  void operator()(const ServiceBusTopicAction& action) const {
    out.name("serviceBusTopicMessage");
    write_service_bus_topic(out, action, options);
    out.member("type", "ServiceBusTopic");
  }
};

void write_retry_policy(JsonWriter& out, const RetryPolicy& policy, DurationForm durations) {
  out.object("retryPolicy", [&] {
    out.member("retryType", policy.type == RetryType::none ? "none" : "fixed");
    if (policy.interval) out.member("retryInterval", spelt(*policy.interval, durations));
    if (policy.count) out.member("retryCount", *policy.count);
  });
}

}  // namespace

std::optional<RetryPolicy> read_retry_policy(ObjectReader& holder) {
  if (auto policy = holder.object("retryPolicy")) return read_policy(std::move(*policy));
  return std::nullopt;
}

std::optional<Action> read_action(ObjectReader& action, Reading& reading) {
  if (action.find("type") == nullptr) {
    action.fail("type",
                "is missing: it must be one of Http, Https, StorageQueue, ServiceBusQueue, "
                "ServiceBusTopic.");
  }
  Action out;
  out.retry_policy = read_retry_policy(action);
  out.timeout = read_timeout(action);
  const auto type = action.choice("type", kActionTypes);
  skip_empty_payloads(action);
  if (!type) return std::nullopt;

  const auto keep = [&out](auto payload) {
    if (payload) out.what = std::move(*payload);
  };
  switch (*type) {
    case ActionType::http:
    case ActionType::https:
      keep(read_payload(action, "request", [&](ObjectReader request) {
        // The founding documents' first example has it here.
        read_elsewhere(out.retry_policy, request, "retryPolicy", read_retry_policy);
        read_elsewhere(out.timeout, request, "timeout", read_timeout);
        return read_http_action(std::move(request), *type == ActionType::https, reading);
      }));
      break;
    case ActionType::storage_queue:
      keep(read_payload(action, "queueMessage", read_storage_queue));
      break;
    case ActionType::service_bus_queue:
      keep(read_payload(action, "serviceBusQueueMessage", [&](ObjectReader message) {
        return read_service_bus_queue(std::move(message), reading);
      }));
      break;
    case ActionType::service_bus_topic:
      keep(read_payload(action, "serviceBusTopicMessage", [&](ObjectReader message) {
        return read_service_bus_topic(std::move(message), reading);
      }));
      break;
  }
  return out;
}

void write_action(JsonWriter& out, const Action& action, const WriteOptions& options) {
  std::visit(PayloadWriter{out, options}, action.what);
  if (action.retry_policy) write_retry_policy(out, *action.retry_policy, options.durations);
  if (action.timeout) out.member("timeout", spelt(*action.timeout, options.durations));
}

std::string spelt(Ticks duration, DurationForm form) {
  return form == DurationForm::iso8601 ? format_iso_duration(duration) : format_duration(duration);
}

}  // namespace belfry
