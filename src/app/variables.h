// SPDX-License-Identifier: MIT
//
// The variables of the environment that a server and its commands know. One with a typing error in
// its name would else be passed over without a word, and a default stand in its place.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace belfry {

std::vector<std::string> variable_names();

// Calls it for each variable BELFRY_… that does nothing, with the name that was perhaps meant, or
// none. Their values are not told: they may be secrets.
using TellOfVariable = std::function<void(const std::string& name, const std::string& guess)>;
void tell_of_unknown_variables(const char* const* environment, const TellOfVariable& tell);

}  // namespace belfry
