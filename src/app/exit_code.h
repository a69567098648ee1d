// SPDX-License-Identifier: MIT
//
// How the process ends, the same for every command.

#pragma once

#include <string>

namespace belfry {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;      // it could not be done
inline constexpr int kWrongInput = 2;  // the command or its input was wrong

// Says on standard error why, and gives the code back.
int end_with(int code, const std::string& why);

}  // namespace belfry
