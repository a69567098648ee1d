// SPDX-License-Identifier: MIT
//
// Any text as the query of a request, and as a $filter: refused with a reason, or read into
// numbers within their limits and a state or status that exists.

#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "wire/query.h"

namespace belfry {
namespace {

void check_filter(std::string_view filter) {
  const auto state = parse_state_filter(filter);
  ASSERT(state ? JobState::enabled <= *state && *state <= JobState::faulted
               : !state.error().message.empty());
  const auto status = parse_status_filter(filter);
  ASSERT(status || !status.error().message.empty());
}

void check(std::string_view text) {
  check_filter(text);
  const auto query = parse_query(text);
  if (!query) {
    ASSERT(!query.error().message.empty());
    return;
  }
  ASSERT(!query->top || *query->top <= kTopMax);
  ASSERT(!query->skip || *query->skip <= kSkipMax);
  if (query->filter) check_filter(*query->filter);
  const auto version = known_api_version(*query);
  ASSERT(!version || query->api_version);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
