// SPDX-License-Identifier: MIT

#include "dispatch/endpoint_template.h"

namespace belfry {

std::string replaced(std::string_view text, std::string_view part, std::string_view by) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t found = text.find(part, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += by;
    at = found + part.size();
  }
}

std::optional<Url> endpoint_of(std::string_view pattern, std::string_view placeholder,
                               std::string_view name) {
  std::optional<Url> url = parse_url(replaced(pattern, placeholder, name));
  if (!url || url->target.find('?') != std::string::npos) return std::nullopt;
  while (url->target.ends_with('/')) url->target.pop_back();
  return url;
}

}  // namespace belfry
