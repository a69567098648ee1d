// SPDX-License-Identifier: MIT
#include "net/http_syntax.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii.h"

namespace belfry {
namespace {

using ByteSet = std::array<bool, 256>;

constexpr ByteSet bytes_of(std::string_view bytes) {
  ByteSet set{};
  for (const char byte : bytes) set[static_cast<unsigned char>(byte)] = true;
  return set;
}

constexpr ByteSet range(unsigned first, unsigned last) {
  ByteSet set{};
  for (unsigned byte = first; byte <= last; ++byte) set[byte] = true;
  return set;
}

constexpr ByteSet operator|(ByteSet a, const ByteSet& b) {
  for (std::size_t byte = 0; byte < a.size(); ++byte) a[byte] = a[byte] || b[byte];
  return a;
}

constexpr ByteSet operator-(ByteSet a, const ByteSet& b) {
  for (std::size_t byte = 0; byte < a.size(); ++byte) a[byte] = a[byte] && !b[byte];
  return a;
}

constexpr ByteSet kAlphanumeric = range('a', 'z') | range('A', 'Z') | range('0', '9');
constexpr ByteSet kToken = kAlphanumeric | bytes_of("!#$%&'*+-.^_`|~");
constexpr ByteSet kFieldValue = bytes_of("\t") | (range(0x20, 0xff) - bytes_of("\x7f"));
constexpr ByteSet kTarget = range(0x21, 0x7e) - bytes_of("#");
constexpr ByteSet kHost = kAlphanumeric | bytes_of("-._~%:[]");

bool all_in(const ByteSet& set, std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [&](char byte) { return set[static_cast<unsigned char>(byte)]; });
}

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && all_in(kToken, text);
}

bool is_field_value(std::string_view text) {
  return all_in(kFieldValue, text);
}

bool is_target_text(std::string_view text) {
  return !text.empty() && all_in(kTarget, text);
}

bool is_host(std::string_view text) {
  return !text.empty() && all_in(kHost, text);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool list_names(std::string_view list, std::string_view token) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (equal_ignoring_case(trimmed(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace belfry
