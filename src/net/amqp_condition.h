// SPDX-License-Identifier: MIT
//
// Seen by net/amqp_*.cpp only: it brings in Proton.

#pragma once

#include <proton/condition.h>

#include <string>
#include <utility>

#include "net/amqp_call.h"

namespace belfry {

// Why the broker did that, as far as it says.
inline AmqpRefusal refusal_of(std::string word, pn_condition_t* condition) {
  AmqpRefusal refusal{std::move(word), {}, {}};
  if (condition == nullptr || !pn_condition_is_set(condition)) return refusal;
  const char* name = pn_condition_get_name(condition);
  const char* description = pn_condition_get_description(condition);
  if (name != nullptr) refusal.condition = name;
  if (description != nullptr) refusal.description = description;
  return refusal;
}

}  // namespace belfry
