// SPDX-License-Identifier: MIT
//
// What came of putting a message on a queue over HTTP, in the words of the history. Queue
// services say 201 when they have the message, and nothing else is a success.

#pragma once

#include <string_view>

#include "model/attempt.h"
#include "net/http_client_call.h"

namespace belfry {

// `action` is "StorageQueue" and the like. A service may repeat what it was asked; where that
// shows `secret`, the history shows asterisks.
Outcome queue_outcome(std::string_view action, std::string_view host, const HttpResult& result,
                      std::string_view secret);

// The signature in a shared access signature of either kind; empty where there is none.
std::string_view signature_in(std::string_view token);

}  // namespace belfry
