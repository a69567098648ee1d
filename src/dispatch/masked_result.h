// SPDX-License-Identifier: MIT
//
// What came of a call or a message, without the secrets that the target repeated: before anything
// of it is cut, or a half of a secret would not be known for one.

#pragma once

#include "model/secret_mask.h"
#include "net/amqp_call.h"
#include "net/http_client_call.h"

namespace belfry {

HttpResult masked(const HttpResult& result, const SecretMask& mask);
AmqpOutcome masked(const AmqpOutcome& outcome, const SecretMask& mask);

// So much of an answer's body must be kept for that; none: as much as of any.
std::size_t body_kept_for(const SecretMask& mask);

}  // namespace belfry
