// SPDX-License-Identifier: MIT
//
// The messages of Service Bus actions.

#pragma once

#include <boost/json/object.hpp>

#include "model/action.h"
#include "wire/action_json.h"
#include "wire/json.h"

namespace belfry {

ServiceBusQueueAction read_service_bus_queue(ObjectReader message, Reading& reading);
ServiceBusTopicAction read_service_bus_topic(ObjectReader message, Reading& reading);
boost::json::object write_service_bus_queue(const ServiceBusQueueAction& action, Secrets secrets);
boost::json::object write_service_bus_topic(const ServiceBusTopicAction& action, Secrets secrets);

}  // namespace belfry
