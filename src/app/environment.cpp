// SPDX-License-Identifier: MIT

#include "app/environment.h"

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

}  // namespace belfry
