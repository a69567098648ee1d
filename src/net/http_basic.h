// SPDX-License-Identifier: MIT
//
// The Basic scheme of Authorization and Proxy-Authorization (RFC 7617).

#pragma once

#include <string>
#include <string_view>

namespace belfry {

// "Basic dXNlcjpwYXNzd29yZA=="
std::string basic_credentials(std::string_view user, std::string_view password);

}  // namespace belfry
