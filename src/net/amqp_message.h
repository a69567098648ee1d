// SPDX-License-Identifier: MIT
//
// An AMQP 1.0 message (OASIS, part 3) as far as we write and read them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/instant.h"

namespace belfry {

struct AmqpMessage {
  using Text = std::optional<std::string>;
  using Property = std::variant<std::string, bool, std::int64_t, double>;
  using Annotation = std::variant<std::string, Instant>;

  bool durable = true;
  std::optional<Millis> time_to_live;
  Text message_id, to, subject, reply_to, correlation_id, content_type, group_id;
  Text reply_to_group_id;
  std::vector<std::pair<std::string, Annotation>> annotations;
  std::vector<std::pair<std::string, Property>> properties;
  std::string body;           // one data section
  bool body_is_text = false;  // a string value instead
};

std::string encode_amqp_message(const AmqpMessage& message);

// The answer of a node that is asked by message, such as $cbs. Empty where it cannot be read.
struct AmqpReply {
  std::string correlation_id;
  int status = 0;  // 0: it has none
  std::string description;
};
AmqpReply decode_amqp_reply(std::string_view bytes);

}  // namespace belfry
