// SPDX-License-Identifier: MIT

#pragma once

#include <string>
#include <string_view>

namespace belfry {

// In one line, padded.
std::string base64_of(std::string_view bytes);

}  // namespace belfry
