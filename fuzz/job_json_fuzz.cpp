// SPDX-License-Identifier: MIT
//
// Any text as the body of a PUT or a PATCH of a job or a collection: refused with reasons that
// name a place, or read. What was read is kept so that it reads the same, and what a client is
// shown holds none of its secrets.

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "wire/collection_json.h"
#include "wire/definition_json.h"
#include "wire/job_json.h"

namespace belfry {
namespace {

void check_errors(const Reading& reading) {
  ASSERT(reading.errors.size() <= kReadingErrorsMax);
  ASSERT(reading.ignored.size() <= kReadingIgnoredMax);
  for (const Error& error : reading.errors) ASSERT(!error.message.empty());
}

void check_kept(const JobDefinition& definition) {
  auto again = parse_definition(definition_text(definition));
  ASSERT(again);
  ASSERT(add_secrets(again->action, secrets_text(definition.action)));
  if (definition.error_action) {
    ASSERT(add_secrets(*again->error_action, secrets_text(*definition.error_action)));
  }
  ASSERT(*again == definition);
}

// A PATCH that says nothing changes nothing.
void check_patched(const Job& job, const boost::json::value& patch) {
  Reading reading;
  const boost::json::value nothing = boost::json::object();
  const auto stored = [&job] { return &*job.definition; };
  ASSERT(read_job(patched_job(job, nothing), reading, stored).definition == job.definition);
  ASSERT(reading.errors.empty());
  if (patch.is_object()) static_cast<void>(read_job(patched_job(job, patch), reading, stored));
  check_errors(reading);
}

void check_shown(const Job& job) {
  for (const auto durations : {DurationForm::time_span, DurationForm::iso8601}) {
    JsonWriter out;
    write_job(out, job, std::nullopt, durations);
    ASSERT(parse_json(out.text(), JsonDialect::strict));
  }
}

void check_job(const boost::json::value& body) {
  Reading reading;
  Job job;
  job.definition = read_job(body, reading).definition;
  check_errors(reading);
  if (!reading.errors.empty()) return;
  check_kept(job.definition);
  check_patched(job, body);
  check_shown(job);
}

void check_collection(const boost::json::value& body) {
  static const Plans plans = Plans::azure();
  Reading reading;
  const JobCollection collection =
      read_collection(body, {"s", "g", "c"}, plans, nullptr, ApiVersion::v2016_03_01, reading);
  check_errors(reading);
  if (!reading.errors.empty()) return;
  const boost::json::value shown = write_collection(collection, ApiVersion::v2016_03_01);
  Reading again;
  static_cast<void>(
      read_collection(shown, {"s", "g", "c"}, plans, nullptr, ApiVersion::v2016_03_01, again));
  ASSERT(again.errors.empty());
}

void check(std::string_view text) {
  const auto body = parse_json(text, JsonDialect::strict);
  if (!body) {
    ASSERT(!body.error().message.empty());
    return;
  }
  check_job(*body);
  check_collection(*body);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
