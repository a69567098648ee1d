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
  std::string out(bytes.size() * 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = static_cast<unsigned char>(bytes[i]);
    out[2 * i] = kDigits[value >> 4];
    out[2 * i + 1] = kDigits[value & 0xF];
  }
  return out;
}

}  // namespace belfry
