// SPDX-License-Identifier: MIT

#include "net/amqp_message.h"

#include <proton/codec.h>
#include <proton/message.h>
#include <proton/types.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/assert.h"

namespace belfry {
namespace {

struct FreeMessage {
  void operator()(pn_message_t* message) const { pn_message_free(message); }
};
using MessagePtr = std::unique_ptr<pn_message_t, FreeMessage>;

pn_bytes_t bytes_of(std::string_view text) {
  return pn_bytes(text.size(), text.data());
}

std::string text_of(pn_bytes_t bytes) {
  return bytes.start == nullptr ? std::string() : std::string(bytes.start, bytes.size);
}

void put_id(pn_data_t* data, const std::optional<std::string>& id) {
  if (id) pn_data_put_string(data, bytes_of(*id));
}

struct PutValue {
  pn_data_t* data;

  void operator()(const std::string& text) const { pn_data_put_string(data, bytes_of(text)); }
  void operator()(bool flag) const { pn_data_put_bool(data, flag); }
  void operator()(std::int64_t number) const { pn_data_put_long(data, number); }
  void operator()(double number) const { pn_data_put_double(data, number); }
  void operator()(Instant instant) const {
    pn_data_put_timestamp(data, std::chrono::floor<Millis>(instant).time_since_epoch().count());
  }
};

void put_annotations(pn_message_t* out, const AmqpMessage& message) {
  if (message.annotations.empty()) return;
  pn_data_t* data = pn_message_annotations(out);
  pn_data_put_map(data);
  pn_data_enter(data);
  for (const auto& [name, value] : message.annotations) {
    pn_data_put_symbol(data, bytes_of(name));
    std::visit(PutValue{data}, value);
  }
  pn_data_exit(data);
}

void put_properties(pn_message_t* out, const AmqpMessage& message) {
  if (message.properties.empty()) return;
  pn_data_t* data = pn_message_properties(out);
  pn_data_put_map(data);
  pn_data_enter(data);
  for (const auto& [name, value] : message.properties) {
    pn_data_put_string(data, bytes_of(name));
    std::visit(PutValue{data}, value);
  }
  pn_data_exit(data);
}

void set_texts(pn_message_t* out, const AmqpMessage& message) {
  using Set = int (*)(pn_message_t*, const char*);
  const std::pair<const AmqpMessage::Text&, Set> texts[] = {
      {message.to, pn_message_set_address},
      {message.subject, pn_message_set_subject},
      {message.reply_to, pn_message_set_reply_to},
      {message.content_type, pn_message_set_content_type},
      {message.group_id, pn_message_set_group_id},
      {message.reply_to_group_id, pn_message_set_reply_to_group_id},
  };
  for (const auto& [text, set] : texts) {
    if (text) set(out, text->c_str());
  }
}

void put_body(pn_message_t* out, const AmqpMessage& message) {
  pn_data_t* body = pn_message_body(out);
  pn_message_set_inferred(out, !message.body_is_text);
  if (message.body_is_text) {
    pn_data_put_string(body, bytes_of(message.body));
  } else {
    pn_data_put_binary(body, bytes_of(message.body));
  }
}

pn_millis_t capped(Millis duration) {
  constexpr Millis::rep kMax = std::numeric_limits<pn_millis_t>::max();
  return static_cast<pn_millis_t>(std::clamp<Millis::rep>(duration.count(), 0, kMax));
}

std::string encoded(pn_message_t* message, std::size_t size_guess) {
  std::string bytes(size_guess, '\0');
  while (true) {
    std::size_t size = bytes.size();
    const int error = pn_message_encode(message, bytes.data(), &size);
    if (error == 0) {
      bytes.resize(size);
      return bytes;
    }
    ASSERT(error == PN_OVERFLOW);
    bytes.resize(bytes.size() * 2);
  }
}

// The value of the entry that the map's reader stands at.
void take_entry(const std::string& name, pn_data_t* data, AmqpReply& reply) {
  if (name == "status-code" && pn_data_type(data) == PN_INT) reply.status = pn_data_get_int(data);
  if (name == "status-code" && pn_data_type(data) == PN_LONG) {
    reply.status = static_cast<int>(pn_data_get_long(data));
  }
  if (name == "status-description" && pn_data_type(data) == PN_STRING) {
    reply.description = text_of(pn_data_get_string(data));
  }
}

void take_properties(pn_data_t* data, AmqpReply& reply) {
  pn_data_rewind(data);
  if (!pn_data_next(data) || pn_data_type(data) != PN_MAP) return;
  pn_data_enter(data);
  while (pn_data_next(data)) {
    const std::string name =
        pn_data_type(data) == PN_STRING ? text_of(pn_data_get_string(data)) : std::string();
    if (!pn_data_next(data)) return;
    take_entry(name, data, reply);
  }
}

}  // namespace

std::string encode_amqp_message(const AmqpMessage& message) {
  constexpr std::size_t kSizeGuess = 1024;
  const MessagePtr out(pn_message());
  pn_message_set_durable(out.get(), message.durable);
  if (message.time_to_live) pn_message_set_ttl(out.get(), capped(*message.time_to_live));
  put_id(pn_message_id(out.get()), message.message_id);
  put_id(pn_message_correlation_id(out.get()), message.correlation_id);
  set_texts(out.get(), message);
  put_annotations(out.get(), message);
  put_properties(out.get(), message);
  put_body(out.get(), message);
  return encoded(out.get(), kSizeGuess + message.body.size());
}

AmqpReply decode_amqp_reply(std::string_view bytes) {
  const MessagePtr in(pn_message());
  AmqpReply reply;
  if (pn_message_decode(in.get(), bytes.data(), bytes.size()) != 0) return reply;
  pn_data_t* id = pn_message_correlation_id(in.get());
  pn_data_rewind(id);
  if (pn_data_next(id) && pn_data_type(id) == PN_STRING) {
    reply.correlation_id = text_of(pn_data_get_string(id));
  }
  take_properties(pn_message_properties(in.get()), reply);
  return reply;
}

}  // namespace belfry
