// SPDX-License-Identifier: MIT
//
// What to tell an operator whose PEM file cannot be used.

#pragma once

#include <string>
#include <string_view>

namespace belfry {

// "'path' cannot be read: …", or, where it can be, "'path' fault."
std::string pem_file_fault(const std::string& path, std::string_view fault);

}  // namespace belfry
