// SPDX-License-Identifier: MIT
//
// Files that an operator names: read whole, and bounded.

#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace belfry {

// A job's; "-" is standard input, which a person at a terminal is told of.
Result<std::string> read_job_file(const std::string& path, std::size_t bytes_max);

inline constexpr std::size_t kSettingsFileBytesMax = 1024 * 1024;
Result<std::string> read_settings_file(const std::string& path);

}  // namespace belfry
