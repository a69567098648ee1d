// SPDX-License-Identifier: MIT
//
// Texts as they are read by those for whom something in them was escaped, byte by byte with the
// place where each stands. What is not a well-formed escape stands for itself.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace belfry {

struct Unescaped {
  std::string text;
  std::vector<std::size_t> places;  // of each byte in the original, and of the original's end
};

enum class Escapes {
  json,     // \" \\ \/ \n \u0026
  percent,  // %2B
  form,     // the same, and + for a blank
  xml,      // &amp; &#38; &#x26;
  lines,    // line breaks within, as base64 has them
};

// A text in which nothing can be escaped in that way.
bool lacks(std::string_view text, Escapes escapes);

Unescaped unescaped(std::string_view text, Escapes escapes);

}  // namespace belfry
