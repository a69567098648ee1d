// SPDX-License-Identifier: MIT
//
// Variables of the environment. Commands take them as the defaults of their flags, before the flags
// are read: CLI11's own way fills the flags of all commands, so that a variable would win over a
// flag where two commands share it.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace belfry {

std::optional<std::string> from_environment(const std::string& name);
std::string from_environment_or(const std::string& name, const std::string& fallback);

// The variables BELFRY_… that are none of `known`, and so do nothing.
std::vector<std::string> unknown_variables(const std::vector<std::string>& known,
                                           const char* const* environment);

}  // namespace belfry
