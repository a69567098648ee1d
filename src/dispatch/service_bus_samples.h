// SPDX-License-Identifier: MIT
//
// A message, a key and an attempt, for the tests of both ways to Service Bus.

#pragma once

#include "dispatch/service_bus_request.h"

namespace belfry {

inline const Instant kNow = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};
inline const Attempt kAttempt{JobId{42}, {kNow, 3}, ActionRole::main, 0};
inline const SharedAccessKey kKey{"sender", Secret("key")};

inline ServiceBusMessage sample_message() {
  ServiceBusMessage message;
  message.service_namespace = "Contoso";
  message.sas_key_name = "sender";
  message.text = "hello";
  return message;
}

}  // namespace belfry
