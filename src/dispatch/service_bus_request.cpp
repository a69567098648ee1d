// SPDX-License-Identifier: MIT

#include "dispatch/service_bus_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ascii.h"
#include "dispatch/endpoint_template.h"
#include "model/key.h"

namespace belfry {
namespace {

// The code point at the beginning of `text`, which is taken off. The text is UTF-8: it came in
// as JSON.
std::uint32_t take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t point = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length && i < text.size(); ++i) {
    point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  text.remove_prefix(std::min(length, text.size()));
  return point;
}

void append_escaped(std::uint32_t point, std::string& out) {
  if (point == '"' || point == '\\') {
    out += '\\';
    out += static_cast<char>(point);
  } else if (0x20 <= point && point < 0x7F) {
    out += static_cast<char>(point);
  } else if (point < 0x10000) {
    out += fmt::format("\\u{:04x}", point);
  } else {
    point -= 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
  }
}

// A JSON string in ASCII alone: headers hold nothing else safely.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) append_escaped(take_character(text), out);
  return out + '"';
}

// "Tue, 01 Jan 2030 00:00:00 GMT", as HTTP writes dates.
std::string http_date(Instant instant) {
  constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto second = std::chrono::floor<Seconds>(instant);
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays[std::chrono::weekday(day).c_encoding()], unsigned{date.day()},
                     kMonths[unsigned{date.month()} - 1], int{date.year()}, time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

// Seconds, with a fraction only where there is one.
std::string seconds_text(Ticks duration) {
  const auto whole = std::chrono::floor<Seconds>(duration);
  return fmt::format("{}{}", whole.count(), format_fraction(duration - whole));
}

std::string broker_properties(const ServiceBusMessage& message, const Attempt& attempt) {
  const BrokeredProperties& brokered = message.brokered;
  std::vector<std::string> members;
  const auto add = [&](std::string_view name, const std::string& value) {
    members.push_back(fmt::format("\"{}\":{}", name, value));
  };
  const auto add_text = [&](std::string_view name, const std::optional<std::string>& text) {
    if (text) add(name, quoted(*text));
  };
  add("MessageId", quoted(message_id_of(message, attempt)));
  add_text("CorrelationId", brokered.correlation_id);
  add_text("SessionId", brokered.session_id);
  add_text("Label", brokered.label);
  add_text("To", brokered.to);
  add_text("ReplyTo", brokered.reply_to);
  add_text("ReplyToSessionId", brokered.reply_to_session_id);
  add_text("PartitionKey", brokered.partition_key);
  add_text("ViaPartitionKey", brokered.via_partition_key);
  if (brokered.time_to_live) add("TimeToLive", seconds_text(*brokered.time_to_live));
  if (brokered.scheduled_enqueue_time) {
    add("ScheduledEnqueueTimeUtc", quoted(http_date(*brokered.scheduled_enqueue_time)));
  }
  if (brokered.force_persistence) {
    add("ForcePersistence", *brokered.force_persistence ? "true" : "false");
  }
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

// The service tells the types apart by how a value is written: only texts have quotes.
std::string header_value(const CustomProperty& property) {
  struct Write {
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::to_string(number); }
    // Never as an integer: 2.0 stays "2.0".
    std::string operator()(double number) const {
      const std::string text = fmt::to_string(number);
      return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
  };
  return std::visit(Write{}, property);
}

}  // namespace

ServiceBusTarget service_bus_target(const ServiceBusQueueAction& action) {
  return {"ServiceBusQueue", "queue", action.queue_name, action.message};
}

ServiceBusTarget service_bus_target(const ServiceBusTopicAction& action) {
  return {"ServiceBusTopic", "topic", action.topic_path, action.message};
}

// Without regard to case, for over HTTP they are headers.
ServiceBusMessage with_properties(ServiceBusMessage message, const HttpHeaders& properties) {
  for (const auto& [name, value] : properties) {
    const bool set = std::any_of(
        message.custom.begin(), message.custom.end(),
        [&](const auto& property) { return equal_ignoring_case(property.first, name); });
    if (!set) message.custom.emplace_back(name, value);
  }
  return message;
}

std::string message_id_of(const ServiceBusMessage& message, const Attempt& attempt) {
  return message.brokered.message_id.value_or(idempotency_key(attempt));
}

Result<SharedAccessKey> shared_access_key_of(const ServiceBusMessage& message,
                                             const SharedAccessKeys& configured) {
  if (!message.sas_key.empty()) return SharedAccessKey{message.sas_key_name, message.sas_key};
  const auto found = configured.find({folded(message.service_namespace), message.sas_key_name});
  if (found != configured.end()) return SharedAccessKey{message.sas_key_name, found->second};
  return Error{ErrorCode::invalid,
               fmt::format("There is no key to send with: the job has no sasKey, and the file "
                           "that the setting service-bus-keys names has none for '{}' of namespace "
                           "'{}'",
                           message.sas_key_name, message.service_namespace),
               {}};
}

Result<HttpCall> service_bus_call_of(const ServiceBusTarget& target, const Attempt& attempt,
                                     const SharedAccessKey& key, const ServiceBusCall& how) {
  const ServiceBusMessage& message = target.message;
  std::optional<Url> url =
      endpoint_of(how.endpoint, kNamespacePlaceholder, message.service_namespace);
  if (!url) {
    return Error{ErrorCode::invalid,
                 fmt::format("Namespace '{}' and the setting service-bus-endpoint make no address",
                             message.service_namespace),
                 {}};
  }
  const std::string path = fmt::format("{}/{}", url->target, target.entity);
  const std::string resource =
      fmt::format("{}://{}{}", url->https ? "https" : "http", url->authority, path);
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = "POST";
  call.target = path + "/messages";
  call.authority = std::move(url->authority);
  call.headers = {{"Authorization", shared_access_signature(resource, key, how.token_expires)},
                  {"User-Agent", std::string(how.user_agent)},
                  {"BrokerProperties", broker_properties(message, attempt)}};
  if (message.brokered.content_type) {
    call.headers.emplace_back("Content-Type", *message.brokered.content_type);
  }
  for (const auto& [name, property] : message.custom) {
    call.headers.emplace_back(name, header_value(property));
  }
  call.body = message.text;
  return call;
}

}  // namespace belfry
