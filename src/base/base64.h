// SPDX-License-Identifier: MIT
//
// Base64 with the usual alphabet (RFC 4648, 4), and with the one for names in addresses (5).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belfry {

// In one line, padded.
std::string base64_of(std::string_view bytes);

// The text may have line breaks and blanks; none when it is anything else but padded base64.
std::optional<std::string> base64_decoded(std::string_view text);

// Of base64url as JSON Web Tokens have it: no padding, no blanks, and exactly one spelling for
// any bytes, so that two tokens that look different are different.
std::optional<std::string> base64url_decoded(std::string_view text);
std::string base64url_of(std::string_view bytes);

}  // namespace belfry
