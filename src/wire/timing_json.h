// SPDX-License-Identifier: MIT
//
// startTime and recurrence as Azure spells them <-> Timing.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/recurrence.h"
#include "wire/json.h"

namespace belfry {

// Reads `startTime` and `recurrence` out of a job's properties. What breaks a rule that can
// be seen in one member is written into the reading; rules between members are
// recurrence/timing_rules.h's.
Timing read_timing(ObjectReader& properties, Reading& reading);

// Writes the members that are there, in the live service's order: startTime first; the
// recurrence alone, for whoever puts the action between the two.
boost::json::object write_recurrence(const Recurrence& recurrence);

std::string_view spelling_of(Frequency frequency);  // minute, hour, …
std::string_view spelling_of(WeekDay day);          // sunday, monday, …
std::optional<Frequency> frequency_spelt(std::string_view text);

// A job's timing as a file gives it: the whole resource, its `properties`, or only startTime
// and recurrence. Everything else in the file is passed over.
struct TimingFile {
  Timing timing;
  std::string path;  // where in the file it stands: "properties." or ""
  std::vector<Error> errors;
};
TimingFile read_timing_file(std::string_view text);

}  // namespace belfry
