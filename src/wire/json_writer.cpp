// SPDX-License-Identifier: MIT

#include "wire/json_writer.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cstring>

namespace belfry {
namespace {

// What follows the backslash; 0 where a character stands for itself.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (std::size_t c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

// Where the first character that must be escaped stands, from `from` on; the end where none does.
// Eight are looked at together: a byte below 0x20, or equal to a quote or a backslash, leaves its
// highest bit set. Bytes from 0x80 on are parts of letters, and hide what stands before them: then
// the eight are looked at one by one.
std::size_t find_escaped(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  std::size_t i = from;
  for (std::uint64_t eight = 0; i < text.size();) {
    if (i + sizeof(eight) <= text.size()) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      const std::uint64_t quotes = eight ^ (kOnes * '"');
      const std::uint64_t slashes = eight ^ (kOnes * '\\');
      const std::uint64_t low = (eight - kOnes * 0x20) | (quotes - kOnes) | (slashes - kOnes);
      if (((low | eight) & kHigh) == 0) {
        i += sizeof(eight);
        continue;
      }
    }
    const std::size_t end = std::min(i + sizeof(eight), text.size());
    for (; i < end; ++i) {
      if (kEscapes[static_cast<unsigned char>(text[i])] != 0) return i;
    }
  }
  return text.size();
}

void append_escaped(std::string& text, char c, char escape) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += '\\';
  text += escape;
  if (escape != 'u') return;
  text += "00";
  text += kDigits[static_cast<unsigned char>(c) >> 4];
  text += kDigits[static_cast<unsigned char>(c) & 0xF];
}

}  // namespace

// The last character tells: after an opening bracket or a name nothing is to be separated.
void JsonWriter::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
}

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = find_escaped(text, begin);
    text_.append(text, begin, end - begin);
    if (end == text.size()) break;
    append_escaped(text_, text[end], kEscapes[static_cast<unsigned char>(text[end])]);
    begin = end + 1;
  }
  text_ += '"';
}

void JsonWriter::name(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
}

void JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
}

void JsonWriter::value(std::int64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  json({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::value(bool flag) {
  json(flag ? "true" : "false");
}

void JsonWriter::value(double number) {
  json(boost::json::serialize(boost::json::value(number)));
}

void JsonWriter::value(Instant instant) {
  separate();
  char* to = room(kInstantBytesMax + 2);
  *to++ = '"';
  to = write_instant(to, instant);
  *to++ = '"';
  ends_at(to);
}

void JsonWriter::null() {
  json("null");
}

void JsonWriter::json(std::string_view text) {
  separate();
  text_ += text;
}

}  // namespace belfry
