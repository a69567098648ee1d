// SPDX-License-Identifier: MIT
//
// What came of putting a message on a queue over HTTP, in the words of the history. Queue
// services say 201 when they have the message, and nothing else is a success.

#pragma once

#include <string_view>

#include "model/attempt.h"
#include "net/http_client_call.h"

namespace belfry {

// `action` is "StorageQueue" and the like.
Outcome queue_outcome(std::string_view action, std::string_view host, const HttpResult& result);

}  // namespace belfry
