// SPDX-License-Identifier: MIT
//
// `belfry preview`: when would this job run? Offline: it needs a file and a time, no server.

#pragma once

#include <cstddef>
#include <string>

#include "base/instant.h"

namespace belfry {

inline constexpr std::size_t kPreviewCountMax = 10'000;
inline constexpr std::size_t kPreviewFileBytesMax = 8 * 1024 * 1024;

struct PreviewOptions {
  Instant now;
  std::size_t count = 10;
  bool json = false;
};

struct PreviewAnswer {
  std::string output;       // for standard output
  std::string complaints;   // for standard error: one line each, also of what is not wrong
  bool understood = false;  // false: the file is wrong and there is no output
};

PreviewAnswer preview(const std::string& text, const PreviewOptions& options);

}  // namespace belfry
