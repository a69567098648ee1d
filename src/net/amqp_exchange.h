// SPDX-License-Identifier: MIT
//
// A call that the client accepted and has not finished.

#pragma once

#include <memory>

#include "net/amqp_client.h"
#include "net/http_client_exchange.h"

namespace belfry {

struct AmqpExchange {
  AmqpCall call;
  AmqpClient::Done done;
  SteadyTime accepted;
  SteadyTime held_until;
  SteadyTime begun;  // when it was written to the broker; until then as `accepted`
  SteadyTime deadline;
};
using AmqpExchangePtr = std::unique_ptr<AmqpExchange>;

}  // namespace belfry
