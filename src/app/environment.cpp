// SPDX-License-Identifier: MIT

#include "app/environment.h"

#include <algorithm>
#include <cstdlib>

namespace belfry {

std::optional<std::string> from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::string from_environment_or(const std::string& name, const std::string& fallback) {
  return from_environment(name).value_or(fallback);
}

std::vector<std::string> unknown_variables(const std::vector<std::string>& known,
                                           const char* const* environment) {
  std::vector<std::string> unknown;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string name(entry.substr(0, entry.find('=')));
    if (!name.starts_with("BELFRY_")) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace belfry
