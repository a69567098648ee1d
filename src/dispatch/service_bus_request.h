// SPDX-License-Identifier: MIT
//
// How a Service Bus message becomes an HTTP call. The transport that Azure Scheduler called
// netMessaging has no published protocol; the service takes the same messages over its REST
// interface, with the same properties.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "dispatch/http_request.h"
#include "dispatch/shared_access_signature.h"
#include "model/attempt.h"
#include "net/http_client_call.h"

namespace belfry {

// A queue or a topic, and what is to be put there: the two actions differ in nothing else.
struct ServiceBusTarget {
  std::string_view action;  // "ServiceBusQueue", as histories name it
  std::string_view kind;    // "queue", "topic"
  const std::string& entity;
  const ServiceBusMessage& message;
};
ServiceBusTarget service_bus_target(const ServiceBusQueueAction& action);
ServiceBusTarget service_bus_target(const ServiceBusTopicAction& action);

// The message with those of our properties that the user did not set.
ServiceBusMessage with_properties(ServiceBusMessage message, const HttpHeaders& properties);

// Keys that the server's configuration holds, by namespace (in lower case) and key name.
using SharedAccessKeys = std::map<std::pair<std::string, std::string>, Secret>;

inline constexpr std::string_view kNamespacePlaceholder = "{namespace}";

// The job's key, or the one that the configuration has for it.
Result<SharedAccessKey> shared_access_key_of(const ServiceBusMessage& message,
                                             const SharedAccessKeys& configured);

struct ServiceBusCall {
  std::string_view endpoint;  // a template, with {namespace}
  std::string_view user_agent;
  Instant token_expires;
};

// An error says in its message why this message cannot be sent at all.
Result<HttpCall> service_bus_call_of(const ServiceBusTarget& target, const Attempt& attempt,
                                     const SharedAccessKey& key, const ServiceBusCall& how);

// The message's own id, or the attempt's idempotency key: a broker that looks for duplicates
// drops the repetitions of an occurrence.
std::string message_id_of(const ServiceBusMessage& message, const Attempt& attempt);

}  // namespace belfry
