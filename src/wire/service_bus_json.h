// SPDX-License-Identifier: MIT
//
// The messages of Service Bus actions.

#pragma once

#include "model/action.h"
#include "wire/action_json.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

ServiceBusQueueAction read_service_bus_queue(ObjectReader message, Reading& reading);
ServiceBusTopicAction read_service_bus_topic(ObjectReader message, Reading& reading);
void write_service_bus_queue(JsonWriter& out, const ServiceBusQueueAction& action,
                             const WriteOptions& options);
void write_service_bus_topic(JsonWriter& out, const ServiceBusTopicAction& action,
                             const WriteOptions& options);

}  // namespace belfry
