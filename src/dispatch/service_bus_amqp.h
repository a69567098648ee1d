// SPDX-License-Identifier: MIT
//
// How a Service Bus message becomes a message of AMQP 1.0, and what a broker's answer means.
// The same messages can be put on other brokers of AMQP 1.0: what differs, the operator says.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "dispatch/service_bus_options.h"
#include "net/amqp_call.h"
#include "net/amqp_message.h"

namespace belfry {

struct AmqpEndpoint {
  bool tls = true;
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const AmqpEndpoint&) const = default;
};

// "amqps://host" (port 5671) or "amqp://host:port" (5672 without); none for anything else.
std::optional<AmqpEndpoint> amqp_endpoint_of(std::string_view pattern,
                                             std::string_view service_namespace);

// In Service Bus' own mapping of its properties to AMQP.
AmqpMessage service_bus_amqp_message(const ServiceBusMessage& message, const Attempt& attempt);

// An error says in its message why this message cannot be sent at all. The clock dates the
// tokens and must outlive the call.
Result<AmqpCall> service_bus_amqp_call(const ServiceBusTarget& target, const Attempt& attempt,
                                       const SharedAccessKey& key, const ServiceBusOptions& options,
                                       const Clock& clock);

// "ServiceBusQueue Action - Response from host '…': 'Rejected' amqp:not-found …"
Outcome amqp_outcome(std::string_view action, std::string_view host, const AmqpOutcome& outcome);

}  // namespace belfry
