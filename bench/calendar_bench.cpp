// SPDX-License-Identifier: MIT
//
// How long is "when next?" Our calendar beside libical's iterator, in one run, so that the
// ratio holds whatever the machine is doing. One JSON line per schedule.

#include <fmt/format.h>
#include <libical/ical.h>

#include <chrono>
#include <string>

#include "recurrence/next_occurrence.h"
#include "wire/timing_json.h"

namespace {

using belfry::Instant;
using SteadyClock = std::chrono::steady_clock;

constexpr int kSteps = 1'000'000;
constexpr int kLibicalSteps = 20'000;
constexpr int kRounds = 5;

struct Case {
  std::string name;
  std::string job;    // as belfry preview reads it
  std::string rrule;  // the same for libical
  double target_ns;
};

const Case kCases[] = {
    {"weekly_mon_wed_fri_10_22",
     R"({"startTime":"2026-01-05T10:00Z","recurrence":{"frequency":"week",
        "schedule":{"weekDays":["monday","wednesday","friday"],"hours":[10,22],"minutes":[0]}}})",
     "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=10,22;BYMINUTE=0;BYSECOND=0", 100},
    {"every_15_minutes",
     R"({"startTime":"2026-01-05T10:00Z","recurrence":{"frequency":"day",
        "schedule":{"minutes":[0,15,30,45]}}})",
     "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;"
     "BYMINUTE=0,15,30,45;BYSECOND=0",
     2000},
    {"first_and_last_friday",
     R"({"startTime":"2026-01-02T05:15Z","recurrence":{"frequency":"month",
        "schedule":{"hours":[5],"minutes":[15],
        "monthlyOccurrences":[{"day":"friday","Occurrence":1},
                              {"day":"friday","Occurrence":-1}]}}})",
     "FREQ=MONTHLY;BYDAY=1FR,-1FR;BYHOUR=5;BYMINUTE=15;BYSECOND=0", 2000},
    {"fifth_friday",
     R"({"startTime":"2026-01-30T09:00Z","recurrence":{"frequency":"month",
        "schedule":{"hours":[9],"minutes":[0],
        "monthlyOccurrences":[{"day":"friday","Occurrence":5}]}}})",
     "FREQ=MONTHLY;BYDAY=5FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0", 2000},
    {"last_day_of_month",
     R"({"startTime":"2026-01-31T06:00Z","recurrence":{"frequency":"month",
        "schedule":{"hours":[6],"minutes":[0],"monthDays":[-1]}}})",
     "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=6;BYMINUTE=0;BYSECOND=0", 2000},
};

double nanoseconds_per_step(SteadyClock::time_point began, int steps) {
  return std::chrono::duration<double, std::nano>(SteadyClock::now() - began).count() / steps;
}

double measure_belfry(const belfry::Timing& timing) {
  const Instant anchor = *timing.start_time;
  Instant at = anchor;
  const auto began = SteadyClock::now();
  for (int i = 0; i < kSteps; ++i) {
    const auto next = belfry::next_occurrence(*timing.recurrence, anchor, 0, at);
    // Long runs reach the year 9999; begin again there.
    at = next ? *next : anchor;
  }
  return nanoseconds_per_step(began, kSteps);
}

double measure_libical(const std::string& rrule) {
  const icaltimetype start = icaltime_from_string("20260105T100000Z");
  icalrecur_iterator* iterator =
      icalrecur_iterator_new(icalrecurrencetype_from_string(rrule.c_str()), start);
  const auto began = SteadyClock::now();
  int steps = 0;
  for (; steps < kLibicalSteps; ++steps) {
    if (icaltime_is_null_time(icalrecur_iterator_next(iterator))) break;
  }
  const double nanoseconds = nanoseconds_per_step(began, steps);
  icalrecur_iterator_free(iterator);
  return nanoseconds;
}

}  // namespace

int main() {
  for (const Case& one : kCases) {
    const belfry::TimingFile file = belfry::read_timing_file(one.job);
    double ours = 1e9;
    double theirs = 1e9;
    // The best of some rounds: what else the machine does only ever adds.
    for (int round = 0; round < kRounds; ++round) {
      ours = std::min(ours, measure_belfry(file.timing));
      theirs = std::min(theirs, measure_libical(one.rrule));
    }
    fmt::print(
        "{{\"bench\":\"calendar\",\"case\":\"{}\",\"ns\":{:.1f},\"libical_ns\":{:.1f},"
        "\"ratio\":{:.1f},\"target_ns\":{:.0f},\"met\":{}}}\n",
        one.name, ours, theirs, theirs / ours, one.target_ns, ours <= one.target_ns);
  }
}
