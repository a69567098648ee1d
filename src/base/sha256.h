// SPDX-License-Identifier: MIT
//
// SHA-256, for what must be recognised and not read back: tokens, definitions, the audit log.

#pragma once

#include <string>
#include <string_view>

namespace belfry {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace belfry
