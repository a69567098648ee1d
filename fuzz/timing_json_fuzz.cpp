// SPDX-License-Identifier: MIT
//
// Any text as a job's timing: refused or read, never a crash. What was read is written so that
// it reads the same; what keeps the rules runs, and in order.

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "recurrence/next_occurrence.h"
#include "recurrence/timing_rules.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

constexpr std::size_t kRunsMax = 8;

std::string written(const Timing& timing) {
  JsonWriter out;
  out.begin_object();
  if (timing.start_time) out.member("startTime", format_instant(*timing.start_time));
  if (timing.recurrence) {
    out.name("recurrence");
    write_recurrence(out, *timing.recurrence);
  }
  out.object("action", [] {});  // a file with neither is still a job
  out.end_object();
  return out.take();
}

void check_written_reads_the_same(const Timing& timing) {
  const TimingFile again = read_timing_file(written(timing));
  ASSERT(again.errors.empty());
  ASSERT(again.timing == timing);
}

void check_runs(const Timing& timing, Instant now) {
  if (!broken_timing_rules(timing, now).empty()) return;
  const auto runs = first_occurrences(timing, now, kRunsMax);
  ASSERT(runs.empty() == nothing_ahead(timing, now).has_value());
  if (runs.empty()) return;
  ASSERT(runs.front() >= now);
  for (std::size_t i = 1; i < runs.size(); ++i) ASSERT(runs[i - 1] < runs[i]);
}

void check(std::string_view text) {
  const TimingFile file = read_timing_file(text);
  if (!file.errors.empty()) return;
  check_written_reads_the_same(file.timing);
  const Instant today{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
  for (const Instant now : {kFirstInstant, today, kLastInstant}) check_runs(file.timing, now);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
