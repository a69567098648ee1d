// SPDX-License-Identifier: MIT

#include "base/failpoint.h"

#include <csignal>
#include <cstdlib>
#include <string>

namespace belfry {
namespace {

struct Armed {
  std::string name;
  long hits_left = 0;
};

Armed read_environment() {
  const char* value = std::getenv("BELFRY_FAILPOINT");
  if (value == nullptr) return {};
  const std::string text(value);
  const auto colon = text.find(':');
  if (colon == std::string::npos) return {text, 1};
  return {text.substr(0, colon), std::strtol(text.c_str() + colon + 1, nullptr, 10)};
}

}  // namespace

void reach_failpoint(const char* name) {
  // Places are reached from several threads; the count need not be exact, only finite.
  static Armed armed = read_environment();
  if (armed.name != name || --armed.hits_left > 0) return;
  std::raise(SIGKILL);
}

}  // namespace belfry
