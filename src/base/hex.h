// SPDX-License-Identifier: MIT
//
// Bytes as text, where they are shown or kept as such: hashes, keys, ids.

#pragma once

#include <string>
#include <string_view>

namespace belfry {

// Two lower-case digits for each byte.
inline std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out += kDigits[value >> 4];
    out += kDigits[value & 0xF];
  }
  return out;
}

}  // namespace belfry
