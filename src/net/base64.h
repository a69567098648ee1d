// SPDX-License-Identifier: MIT
//
// Base64 with the usual alphabet (RFC 4648, 4).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belfry {

// In one line, padded.
std::string base64_of(std::string_view bytes);

// The text may have line breaks and blanks; none when it is anything else but padded base64.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace belfry
