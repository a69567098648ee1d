// SPDX-License-Identifier: MIT

#include "model/xml_text.h"

#include <algorithm>

namespace belfry {
namespace {

// Empty for a character that stands for itself.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\r':
      return "&#xD;";
    default:
      return {};
  }
}

bool is_forbidden_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

}  // namespace

bool is_xml_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_forbidden_control) &&
         text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(xml_escaped_size(text));
  for (const char c : text) {
    const std::string_view entity = entity_of(c);
    if (entity.empty()) {
      escaped += c;
    } else {
      escaped += entity;
    }
  }
  return escaped;
}

std::size_t xml_escaped_size(std::string_view text) {
  std::size_t size = text.size();
  for (const char c : text) {
    const std::string_view entity = entity_of(c);
    if (!entity.empty()) size += entity.size() - 1;
  }
  return size;
}

}  // namespace belfry
