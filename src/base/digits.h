// SPDX-License-Identifier: MIT
//
// Numbers with leading zeros, as dates and ids have them. There are several in every call that is
// sent and hundreds in a page of history; fmt reads its format anew for each.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace belfry {

// "00", "01" and so on: two digits for one division.
inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
  }
  return pairs;
}();

// Writes the last `width` digits, which are all there are unless the number is too large for them.
template <int width>
void write_digits(char* to, std::uint64_t number) {
  for (int i = width; i > 1; number /= 100) {
    i -= 2;
    std::memcpy(to + i, &kDigitPairs[2 * (number % 100)], 2);
  }
  if constexpr (width % 2 == 1) *to = static_cast<char>('0' + number % 10);
}

template <int width>
void append_digits(std::string& text, std::uint64_t number) {
  std::array<char, width> digits;
  write_digits<width>(digits.data(), number);
  text.append(digits.data(), digits.size());
}

template <int width>
void append_hex(std::string& text, std::uint64_t number) {
  std::array<char, width> digits;
  for (int i = width; i-- > 0; number >>= 4) {
    digits[static_cast<std::size_t>(i)] = "0123456789abcdef"[number & 0xF];
  }
  text.append(digits.data(), digits.size());
}

}  // namespace belfry
