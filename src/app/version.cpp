// SPDX-License-Identifier: MIT

#include "app/version.h"

#include <fmt/format.h>

#include "build_commit.h"

namespace belfry {

const char* version_number() {
  return BELFRY_VERSION;
}

const char* build_commit() {
  return BELFRY_COMMIT;
}

std::string version_text() {
#ifdef __clang__
  const char* compiler = "clang++ " __clang_version__;
#else
  const char* compiler = "g++ " __VERSION__;
#endif
  return fmt::format("belfry {} (commit {}, {})", BELFRY_VERSION, BELFRY_COMMIT, compiler);
}

}  // namespace belfry
