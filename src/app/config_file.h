// SPDX-License-Identifier: MIT
//
// A file with settings, in TOML. Its tables are prefixes: "endpoint" in [service-bus] is the
// setting "service-bus-endpoint".

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace belfry {

using SettingValues = std::map<std::string, std::string>;

// By name. A name that is none of `known` is an error, which says what may have been meant.
Result<SettingValues> read_config_file(const std::string& path,
                                       const std::vector<std::string>& known);

}  // namespace belfry
