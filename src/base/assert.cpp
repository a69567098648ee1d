// SPDX-License-Identifier: MIT

#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace belfry {

void assertion_failed(const char* condition, const char* file, int line) {
  // Plain stdio: the logger may be what is broken.
  std::fprintf(stderr, "belfry: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace belfry
