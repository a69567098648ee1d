// SPDX-License-Identifier: MIT
//
// Any text as the body of a request for a token, and as a scope: refused with reasons, or read
// within the limits. The rights that were read are kept so that they read the same.

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "wire/access_json.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

void check_kept(const Assignments& assignments) {
  const std::string kept = assignments_text(assignments);
  const auto again = parse_assignments(kept);
  ASSERT(again);
  ASSERT(again->size() == assignments.size());
  ASSERT(assignments_text(*again) == kept);
}

void check_request(const boost::json::value& body) {
  Reading reading;
  const TokenRequest request = read_token_request(body, Instant{}, reading);
  ASSERT(reading.errors.size() <= kReadingErrorsMax);
  for (const Error& error : reading.errors) ASSERT(!error.message.empty());
  if (!reading.errors.empty()) return;
  ASSERT(!request.name.empty() && request.name.size() <= kTokenNameBytesMax);
  ASSERT(!request.assignments.empty() && request.assignments.size() <= kAssignmentsMax);
  ASSERT(!request.expires || *request.expires > Instant{});
  check_kept(request.assignments);
}

// A scope that was understood has one spelling.
void check_scope(std::string_view text) {
  const auto scope = parse_scope(text);
  if (!scope) {
    ASSERT(!scope.error().message.empty());
    return;
  }
  const auto again = parse_scope(scope_id(*scope));
  ASSERT(again);
  ASSERT(folded(*again) == folded(*scope));
}

void check(std::string_view text) {
  check_scope(text);
  if (const auto kept = parse_assignments(text)) check_kept(*kept);
  const auto body = parse_json(text, JsonDialect::strict);
  if (body) check_request(*body);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
