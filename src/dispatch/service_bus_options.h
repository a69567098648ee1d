// SPDX-License-Identifier: MIT
//
// What the operator says of Service Bus: where namespaces are, how brokers are spoken to, and
// the keys for jobs that have none.

#pragma once

#include <string>

#include "base/instant.h"
#include "dispatch/service_bus_request.h"
#include "net/amqp_call.h"

namespace belfry {

struct ServiceBusOptions {
  std::string endpoint = "https://{namespace}.servicebus.windows.net";
  std::string amqp_endpoint = "amqps://{namespace}.servicebus.windows.net";
  std::string amqp_address = "{entity}";
  AmqpLogin amqp_login = AmqpLogin::token;
  SharedAccessKeys keys;
  Millis token_lifetime = std::chrono::minutes{20};
};

}  // namespace belfry
