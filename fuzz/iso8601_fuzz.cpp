// SPDX-License-Identifier: MIT
//
// Any text as a date or a duration: none, or a value in range whose own spelling reads as the
// same value.

#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

void check_instant(std::string_view text) {
  const auto instant = parse_instant(text);
  if (!instant) return;
  ASSERT(kFirstInstant <= *instant && *instant <= kLastInstant);
  ASSERT(parse_instant(format_instant(*instant)) == instant);
}

void check_duration(std::string_view text) {
  const auto duration = parse_duration(text);
  if (!duration) return;
  ASSERT(Ticks{0} <= *duration && *duration <= kDurationMax);
  ASSERT(parse_duration(format_duration(*duration)) == duration);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  belfry::check_instant(text);
  belfry::check_duration(text);
  return 0;
}
