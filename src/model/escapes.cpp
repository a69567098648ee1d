// SPDX-License-Identifier: MIT

#include "model/escapes.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace belfry {
namespace {

// What one escape stands for, and how many bytes it takes; none where the text begins with none.
struct Escape {
  std::string means;
  std::size_t bytes = 0;
};

constexpr std::pair<char, char> kJson[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                           {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
constexpr std::pair<std::string_view, char> kXml[] = {
    {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
constexpr std::size_t kNumberBytesMax = 10;  // &#x10FFFF;

std::string utf8_of(unsigned point) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) { return byte(0x80u | ((point >> shift) & 0x3Fu)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0u | (point >> 6)), tail(0)};
  if (point < 0x10000) return {byte(0xE0u | (point >> 12)), tail(6), tail(0)};
  return {byte(0xF0u | (point >> 18)), tail(12), tail(6), tail(0)};
}

// The whole text must be digits.
bool read_number(std::string_view digits, int base, unsigned& out) {
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, out, base);
  return error == std::errc{} && rest == end && !digits.empty();
}

bool read_json_unit(std::string_view text, unsigned& out) {
  constexpr std::size_t kBytes = 6;
  return text.starts_with("\\u") && text.size() >= kBytes &&
         read_number(text.substr(2, kBytes - 2), 16, out);
}

Escape json_escape(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return {};
  for (const auto& [letter, means] : kJson) {
    if (text[1] == letter) return {{means}, 2};
  }
  unsigned unit = 0;
  if (!read_json_unit(text, unit)) return {};
  unsigned low = 0;
  const bool high = 0xD800 <= unit && unit < 0xDC00;
  if (high && read_json_unit(text.substr(6), low) && 0xDC00 <= low && low < 0xE000) {
    return {utf8_of(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), 12};
  }
  return {utf8_of(unit), 6};
}

Escape percent_escape(std::string_view text) {
  unsigned byte = 0;
  if (text.size() < 3 || text[0] != '%' || !read_number(text.substr(1, 2), 16, byte)) return {};
  return {{static_cast<char>(byte)}, 3};
}

Escape form_escape(std::string_view text) {
  if (text.starts_with('+')) return {" ", 1};
  return percent_escape(text);
}

Escape xml_escape(std::string_view text) {
  for (const auto& [name, means] : kXml) {
    if (text.starts_with(name)) return {{means}, name.size()};
  }
  const std::size_t end = text.substr(0, kNumberBytesMax).find(';');
  if (!text.starts_with("&#") || end == std::string_view::npos) return {};
  const bool hex = text.starts_with("&#x") || text.starts_with("&#X");
  const std::size_t begin = hex ? 3 : 2;
  unsigned point = 0;
  if (end <= begin || !read_number(text.substr(begin, end - begin), hex ? 16 : 10, point) ||
      point > 0x10FFFF) {
    return {};
  }
  return {utf8_of(point), end + 1};
}

Escape line_break(std::string_view) {
  return {"", 1};
}

struct Rule {
  std::string_view marks;  // an escape begins with one of them
  Escape (*read)(std::string_view);
};

Rule rule_of(Escapes escapes) {
  constexpr Rule kRules[] = {{"\\", json_escape},
                             {"%", percent_escape},
                             {"%+", form_escape},
                             {"&", xml_escape},
                             {"\r\n", line_break}};
  return kRules[static_cast<std::size_t>(escapes)];
}

}  // namespace

bool lacks(std::string_view text, Escapes escapes) {
  return text.find_first_of(rule_of(escapes).marks) == std::string_view::npos;
}

Unescaped unescaped(std::string_view text, Escapes escapes) {
  const Rule rule = rule_of(escapes);
  Unescaped out;
  out.text.reserve(text.size());
  out.places.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size();) {
    const bool marked = rule.marks.find(text[at]) != std::string_view::npos;
    Escape escape = marked ? rule.read(text.substr(at)) : Escape{};
    if (escape.bytes == 0) escape = {{text[at]}, 1};
    out.text += escape.means;
    out.places.insert(out.places.end(), escape.means.size(), at);
    at += escape.bytes;
  }
  out.places.push_back(text.size());
  return out;
}

}  // namespace belfry
