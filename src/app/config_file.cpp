// SPDX-License-Identifier: MIT

#include "app/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "app/input_file.h"
#include "app/nearest.h"

namespace belfry {
namespace {

Result<toml::table> parse_config_file(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_settings_file(path));
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: line {} is not TOML: {}.", path, error.source().begin.line,
                             error.description()),
                 {}};
  }
}

// A table of a table is no setting.
Status add_values(const toml::table& table, const std::string& prefix, const std::string& path,
                  SettingValues& values) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto text = node.value<std::string>()) {
      values[name] = *text;
    } else if (const auto answer = node.as_boolean()) {
      values[name] = answer->get() ? "yes" : "no";
    } else if (const auto number = node.value<std::int64_t>()) {
      values[name] = std::to_string(*number);
    } else if (const toml::table* inner = node.as_table(); inner != nullptr && prefix.empty()) {
      if (auto added = add_values(*inner, name + "-", path, values); !added) return added;
    } else {
      return Error{ErrorCode::invalid,
                   fmt::format("{}: '{}' must be a string, an integer or a boolean.", path, name),
                   name};
    }
  }
  return Done{};
}

Status check_known(const SettingValues& values, const std::vector<std::string>& names,
                   const std::string& path) {
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string guess = nearest(name, names);
    return Error{ErrorCode::invalid,
                 fmt::format("{}: there is no setting '{}'{}; `belfry config` lists them.", path,
                             name, guess.empty() ? "" : ", but '" + guess + "'"),
                 name};
  }
  return Done{};
}

}  // namespace

Result<SettingValues> read_config_file(const std::string& path,
                                       const std::vector<std::string>& known) {
  TRY_ASSIGN(const toml::table table, parse_config_file(path));
  SettingValues values;
  if (auto added = add_values(table, "", path, values); !added) return added.error();
  if (auto checked = check_known(values, known, path); !checked) return checked.error();
  return values;
}

}  // namespace belfry
