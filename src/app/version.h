// SPDX-License-Identifier: MIT
//
// What this binary is: for bug reports, metrics and `belfry version`.

#pragma once

#include <string>

namespace belfry {

// "belfry 0.1.0 (commit 1a2b3c4, g++ 12.2.0)"
std::string version_text();

const char* version_number();  // "0.1.0"
const char* build_commit();    // "1a2b3c4"

}  // namespace belfry
