// SPDX-License-Identifier: MIT

#include "wire/service_bus_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wire/authentication_json.h"
#include "wire/http_action_json.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kNamespaceBytesMax = 255;
constexpr std::size_t kEntityBytesMax = 260;
constexpr std::size_t kPropertyBytesMax = 1024;

constexpr Spelling<Transport> kTransports[] = {
    {"notSpecified", Transport::not_specified},
    {"netMessaging", Transport::net_messaging},
    {"amqp", Transport::amqp},
};

// The text properties, by their names on the wire.
using TextProperty = std::optional<std::string> BrokeredProperties::*;
constexpr Spelling<TextProperty> kTextProperties[] = {
    {"contentType", &BrokeredProperties::content_type},
    {"correlationId", &BrokeredProperties::correlation_id},
    {"label", &BrokeredProperties::label},
    {"messageId", &BrokeredProperties::message_id},
    {"partitionKey", &BrokeredProperties::partition_key},
    {"replyTo", &BrokeredProperties::reply_to},
    {"replyToSessionId", &BrokeredProperties::reply_to_session_id},
    {"sessionId", &BrokeredProperties::session_id},
    {"to", &BrokeredProperties::to},
    {"viaPartitionKey", &BrokeredProperties::via_partition_key},
};

BrokeredProperties read_brokered(ObjectReader reader) {
  BrokeredProperties out;
  for (const auto& [name, property] : kTextProperties) {
    out.*property = reader.text(name, kPropertyBytesMax);
    // It would end the text for whoever reads it as C does.
    if (out.*property && (out.*property)->find('\0') != std::string::npos) {
      reader.fail(name, "must not hold the character U+0000.");
    }
  }
  if (out.content_type && !is_header_value(*out.content_type)) {
    reader.fail("contentType", "must not hold control characters.");
  }
  out.force_persistence = reader.boolean("forcePersistence");
  if (const auto text = reader.text("scheduledEnqueueTimeUtc", kPropertyBytesMax)) {
    out.scheduled_enqueue_time = parse_instant(*text);
    if (!out.scheduled_enqueue_time) {
      reader.fail("scheduledEnqueueTimeUtc",
                  fmt::format("must be a date and time in ISO 8601; it is '{}'.", *text));
    }
  }
  if (const auto text = reader.text("timeToLive", kPropertyBytesMax)) {
    out.time_to_live = parse_duration(*text);
    if (!out.time_to_live) {
      reader.fail("timeToLive", fmt::format("must be a duration such as 'PT1M' or '00:01:00'; it "
                                            "is '{}'.",
                                            *text));
    }
  }
  return out;
}

std::optional<CustomProperty> read_custom_property(const json::value& value) {
  if (const auto* text = value.if_string()) return CustomProperty(std::string(*text));
  if (const auto* flag = value.if_bool()) return CustomProperty(*flag);
  if (const auto* integer = value.if_int64()) return CustomProperty(*integer);
  // 1e999 is read as infinity, which JSON cannot say again.
  const auto* real = value.if_double();
  if (real != nullptr && std::isfinite(*real)) return CustomProperty(*real);
  return std::nullopt;
}

// Over HTTP a custom property is a header, and may not be one of those that the call has.
bool may_be_property(std::string_view name, Transport transport) {
  if (transport == Transport::amqp) return !name.empty() && name.size() <= kPropertyBytesMax;
  constexpr std::string_view kOurs[] = {"Authorization", "BrokerProperties", "Content-Type",
                                        "User-Agent"};
  return is_free_header_name(name) &&
         std::none_of(std::begin(kOurs), std::end(kOurs),
                      [&](std::string_view ours) { return equal_ignoring_case(name, ours); });
}

ServiceBusMessage::Custom read_custom(ObjectReader& message, Transport transport,
                                      Reading& reading) {
  ServiceBusMessage::Custom out;
  const json::value* value = message.find("customMessageProperties");
  if (value == nullptr) return out;
  const std::string path = message.path_of("customMessageProperties");
  const auto* object = value->if_object();
  if (object == nullptr || object->size() > kCustomPropertiesMax) {
    reading.fail(path, fmt::format("must be an object with at most {} members; it is {}.",
                                   kCustomPropertiesMax, shown(*value)));
    return out;
  }
  for (const auto& [name, property] : *object) {
    auto read = read_custom_property(property);
    if (!may_be_property(name, transport)) {
      reading.fail(fmt::format("{}.{}", path, std::string_view(name)),
                   "cannot be a property: over HTTP it becomes a header, and its name must be "
                   "free to be one.");
    } else if (read) {
      out.emplace_back(std::string(name), std::move(*read));
    } else {
      reading.fail(
          fmt::format("{}.{}", path, std::string_view(name)),
          fmt::format("must be a string, a number or a boolean; it is {}.", shown(property)));
    }
  }
  return out;
}

void read_shared_access_key(ObjectReader& message, ServiceBusMessage& out) {
  constexpr Spelling<bool> kTypes[] = {{"sharedAccessKey", true}, {"notSpecified", false}};
  auto authentication = message.object("authentication");
  if (!authentication) {
    if (message.find("authentication") == nullptr) {
      message.fail("authentication", "is missing: it names sasKeyName and sasKey.");
    }
    return;
  }
  static_cast<void>(authentication->choice("type", kTypes));
  out.sas_key_name = required_text(*authentication, "sasKeyName", kNamespaceBytesMax);
  // The founding documents print it without a key; the configuration may hold one then.
  if (authentication->find("sasKey") != nullptr) {
    out.sas_key = required_secret(*authentication, "sasKey");
  }
}

ServiceBusMessage read_message(ObjectReader& message, Reading& reading) {
  ServiceBusMessage out;
  out.service_namespace = required_name(message, "namespace", kNamespaceBytesMax);
  out.transport = message.choice("transportType", kTransports).value_or(Transport::net_messaging);
  read_shared_access_key(message, out);
  out.text = message.text("message", kMessageBytesMax).value_or("");
  if (auto brokered = message.object("brokeredMessageProperties")) {
    out.brokered = read_brokered(std::move(*brokered));
  }
  out.custom = read_custom(message, out.transport, reading);
  return out;
}

void write_brokered(JsonWriter& out, const BrokeredProperties& brokered, DurationForm durations) {
  for (const auto& [name, property] : kTextProperties) {
    if (brokered.*property) out.member(name, *(brokered.*property));
  }
  if (brokered.force_persistence) out.member("forcePersistence", *brokered.force_persistence);
  if (brokered.scheduled_enqueue_time) {
    out.member("scheduledEnqueueTimeUtc", *brokered.scheduled_enqueue_time);
  }
  if (brokered.time_to_live) out.member("timeToLive", spelt(*brokered.time_to_live, durations));
}

void write_message(JsonWriter& out, const ServiceBusMessage& message, const WriteOptions& options) {
  out.member("namespace", message.service_namespace);
  out.member("transportType", kTransports[static_cast<std::size_t>(message.transport)].first);
  out.object("authentication", [&] {
    out.member("sasKeyName", message.sas_key_name);
    if (options.secrets == Secrets::name && !message.sas_key.empty()) {
      out.member("sasKey", kSealed);
    }
    out.member("type", "sharedAccessKey");
  });
  out.member("message", message.text);
  if (message.brokered != BrokeredProperties{}) {
    out.object("brokeredMessageProperties",
               [&] { write_brokered(out, message.brokered, options.durations); });
  }
  if (message.custom.empty()) return;
  out.object("customMessageProperties", [&] {
    for (const auto& [name, property] : message.custom) {
      out.name(name);
      std::visit([&](const auto& value) { out.value(value); }, property);
    }
  });
}

}  // namespace

ServiceBusQueueAction read_service_bus_queue(ObjectReader message, Reading& reading) {
  ServiceBusQueueAction out;
  out.queue_name = required_name(message, "queueName", kEntityBytesMax, '/');
  out.message = read_message(message, reading);
  return out;
}

ServiceBusTopicAction read_service_bus_topic(ObjectReader message, Reading& reading) {
  ServiceBusTopicAction out;
  out.topic_path = required_name(message, "topicPath", kEntityBytesMax, '/');
  out.message = read_message(message, reading);
  return out;
}

void write_service_bus_queue(JsonWriter& out, const ServiceBusQueueAction& action,
                             const WriteOptions& options) {
  out.object([&] {
    out.member("queueName", action.queue_name);
    write_message(out, action.message, options);
  });
}

void write_service_bus_topic(JsonWriter& out, const ServiceBusTopicAction& action,
                             const WriteOptions& options) {
  out.object([&] {
    out.member("topicPath", action.topic_path);
    write_message(out, action.message, options);
  });
}

}  // namespace belfry
