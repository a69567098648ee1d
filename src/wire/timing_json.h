// SPDX-License-Identifier: MIT
//
// startTime and recurrence as Azure spells them <-> Timing.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/recurrence.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

// Reads `startTime` and `recurrence` out of a job's properties. What breaks a rule that can
// be seen in one member is written into the reading; rules between members are
// recurrence/timing_rules.h's.
Timing read_timing(ObjectReader& properties, Reading& reading);

// In the live service's order of members.
void write_recurrence(JsonWriter& out, const Recurrence& recurrence);

std::string_view spelling_of(Frequency frequency);  // minute, hour, …
std::string_view spelling_of(WeekDay day);          // sunday, monday, …

// A job's timing as a file gives it: the whole resource, its `properties`, or only startTime
// and recurrence. Everything else in the file is passed over.
struct TimingFile {
  Timing timing;
  std::string path;  // where in the file it stands: "properties." or ""
  std::vector<Error> errors;
  std::vector<std::string> ignored;  // what nobody knows, by its path
};
TimingFile read_timing_file(std::string_view text);

}  // namespace belfry
