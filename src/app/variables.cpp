// SPDX-License-Identifier: MIT

#include "app/variables.h"

#include "app/environment.h"
#include "app/nearest.h"
#include "app/settings.h"

namespace belfry {

std::vector<std::string> variable_names() {
  std::vector<std::string> names = {"BELFRY_CONFIG",       "BELFRY_SERVER", "BELFRY_TOKEN",
                                    "BELFRY_SUBSCRIPTION", "BELFRY_GROUP",  "BELFRY_COLLECTION",
                                    "BELFRY_FAILPOINT"};
  for (const SettingRule& rule : setting_rules()) names.push_back(environment_name(rule.name));
  return names;
}

void tell_of_unknown_variables(const char* const* environment, const TellOfVariable& tell) {
  const auto known = variable_names();
  for (const std::string& name : unknown_variables(known, environment)) {
    tell(name, nearest(name, known));
  }
}

}  // namespace belfry
