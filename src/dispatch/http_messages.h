// SPDX-License-Identifier: MIT
//
// What the history says of an HTTP call, in the live service's words: people search their
// histories for them, and programs take them apart.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_client_call.h"

namespace belfry {

// "Http Action - Response from host '…': 'OK' Response Headers: … Body: …"
// `action` is what histories call this kind of action.
std::string response_message(std::string_view host, const HttpReply& reply,
                             std::string_view action = "Http");

// "Http Action - Request to host '…' failed: ConnectFailure Unable to connect …"
std::string failure_message(std::string_view host, const HttpFailure& failure,
                            std::string_view action = "Http");

// What .NET calls a status: 503 is "ServiceUnavailable". The number where it has no name.
std::string status_name(int status);

// The number that has this name, or is written so.
std::optional<int> status_named(std::string_view name);

// Text that is UTF-8 throughout: what is not is replaced, and a character that was cut off at
// the end is left out.
std::string as_utf8(std::string_view bytes);

}  // namespace belfry
