// SPDX-License-Identifier: MIT

#include "app/exit_code.h"

#include <fmt/format.h>

#include <cstdio>

namespace belfry {

int end_with(int code, const std::string& why) {
  fmt::print(stderr, "belfry: {}\n", why);
  return code;
}

}  // namespace belfry
