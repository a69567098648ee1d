// SPDX-License-Identifier: MIT

#include "base/ascii.h"

#include <gtest/gtest.h>

#include <string>

namespace belfry {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

// Eight are made at a time, and what is left over one by one: every byte at every place among the
// eight, beside every neighbour that could spill into it, is what it is alone.
TEST(Ascii, ManyLettersAreMadeLowerAsOneIs) {
  for (std::size_t begin = 0; begin < 16; ++begin) {
    std::string text = all_bytes().substr(begin);
    std::string expected;
    for (const char c : text) expected += lower(c);
    make_lower(text);
    EXPECT_EQ(text, expected) << begin;
  }
  for (const char neighbour : {'\x00', 'A', 'Z', '\x7F', '\x80', '\xC1', '\xFF'}) {
    for (const char c : all_bytes()) {
      std::string text = {neighbour, c, neighbour, neighbour, c, neighbour, c, c, neighbour};
      std::string expected;
      for (const char one : text) expected += lower(one);
      make_lower(text);
      EXPECT_EQ(text, expected);
    }
  }
}

TEST(Ascii, AnEmptyTextStaysEmpty) {
  std::string nothing;
  make_lower(nothing);
  EXPECT_EQ(nothing, "");
}

}  // namespace
}  // namespace belfry
