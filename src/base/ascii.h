// SPDX-License-Identifier: MIT
//
// Letters of ASCII without regard to case, as HTTP's headers, JSON's members and our names are
// compared: the process's locale must not decide what a header is called.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace belfry {

constexpr char lower(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// All of them, eight at a time: keys are made so several times with every request and firing.
inline void make_lower(std::span<char> text) {
  constexpr std::uint64_t kEach = 0x0101010101010101;  // times a byte: that byte in all eight
  std::size_t done = 0;
  for (; done + sizeof(kEach) <= text.size(); done += sizeof(kEach)) {
    std::uint64_t letters = 0;
    std::memcpy(&letters, &text[done], sizeof(letters));
    // The top bit of each sum says whether the byte, without its own top bit, is that large.
    const std::uint64_t low_bits = letters & (0x7F * kEach);
    const std::uint64_t from_a = low_bits + (0x80 - 'A') * kEach;
    const std::uint64_t beyond_z = low_bits + (0x80 - 'Z' - 1) * kEach;
    const std::uint64_t capitals = from_a & ~beyond_z & ~letters & (0x80 * kEach);
    letters |= capitals >> 2;  // 0x80 becomes 0x20, by which they differ
    std::memcpy(&text[done], &letters, sizeof(letters));
  }
  for (char& c : text.subspan(done)) c = lower(c);
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace belfry
