// SPDX-License-Identifier: MIT
//
// The small words of HTTP's grammar (RFC 9110, section 5), shared by what reads messages and
// what writes them: nothing is sent that we would not accept.

#pragma once

#include <string_view>

namespace belfry {

// What methods and header names are made of: one or more of the letters HTTP calls tchar.
bool is_token(std::string_view text);

// No control bytes but the tab. Bytes from 0x80 on are allowed: they are opaque text.
bool is_field_value(std::string_view text);

// Printable ASCII without spaces, and no fragment: what a request target may consist of.
bool is_target_text(std::string_view text);

// A host name or address, perhaps with a port. Narrower than the RFC, which would let through
// commas and quotes that no host we answer for has.
bool is_host(std::string_view text);

// Without the spaces and tabs around it.
std::string_view trimmed(std::string_view text);

// Whether `list`, separated by commas, names `token` in any case.
bool list_names(std::string_view list, std::string_view token);

}  // namespace belfry
