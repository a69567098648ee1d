// SPDX-License-Identifier: MIT

#include "app/service_bus_keys.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "app/input_file.h"
#include "model/key.h"

namespace belfry {
namespace {

Error wrong(const std::string& path, std::string_view reason) {
  return {ErrorCode::invalid, fmt::format("the file of Service Bus keys '{}' {}.", path, reason),
          "service-bus-keys"};
}

// The parser's own words may show the line that it could not read.
Result<toml::table> parse(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_settings_file(path));
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return wrong(path, fmt::format("is not TOML (line {})", error.source().begin.line));
  }
}

}  // namespace

Result<SharedAccessKeys> read_service_bus_keys(const std::string& path) {
  TRY_ASSIGN(const toml::table table, parse(path));
  SharedAccessKeys keys;
  for (const auto& [service_namespace, node] : table) {
    const toml::table* policies = node.as_table();
    if (policies == nullptr) {
      return wrong(path, fmt::format("must have a table for each namespace; '{}' is none",
                                     service_namespace.str()));
    }
    for (const auto& [name, value] : *policies) {
      auto key = value.value<std::string>();
      if (!value.is_string() || key->empty()) {
        return wrong(path, fmt::format("must have a text for each key; '{}' of '{}' is none",
                                       name.str(), service_namespace.str()));
      }
      keys[{folded(service_namespace.str()), std::string(name.str())}] = Secret(*std::move(key));
    }
  }
  return keys;
}

}  // namespace belfry
