// SPDX-License-Identifier: MIT
//
// What an HTTP action proves its identity with, and the small reading that all actions need:
// names that must be there, and secrets.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/action.h"
#include "wire/action_json.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

// Each says what is missing or wrong and gives an empty text then. A name holds letters,
// digits, '-', '_', '.' and, where `separator` is given, that character too: it becomes part
// of an address.
std::string required_text(ObjectReader& reader, std::string_view name, std::size_t bytes_max);
std::string required_name(ObjectReader& reader, std::string_view name, std::size_t bytes_max,
                          char separator = '-');
Secret required_secret(ObjectReader& reader, std::string_view name);

std::optional<Authentication> read_authentication(ObjectReader authentication);
void write_authentication(JsonWriter& out, const Authentication& authentication, Secrets secrets);

}  // namespace belfry
