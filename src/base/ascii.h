// SPDX-License-Identifier: MIT
//
// Letters of ASCII without regard to case, as HTTP's headers, JSON's members and our names are
// compared: the process's locale must not decide what a header is called.

#pragma once

#include <algorithm>
#include <string_view>

namespace belfry {

constexpr char lower(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace belfry
