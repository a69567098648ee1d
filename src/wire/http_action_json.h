// SPDX-License-Identifier: MIT
//
// The `request` of an HTTP action.

#pragma once

#include <string_view>

#include "model/action.h"
#include "wire/action_json.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

HttpAction read_http_action(ObjectReader request, bool declared_https, Reading& reading);
void write_http_action(JsonWriter& out, const HttpAction& action, Secrets secrets);

// No control character may pass: CR and LF would begin a header of their own.
bool is_header_value(std::string_view value);

// A name that a header of the user's may have: it is one, and not the connection's own.
bool is_free_header_name(std::string_view name);

}  // namespace belfry
