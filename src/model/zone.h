// SPDX-License-Identifier: MIT
//
// Zone turns instants into the local time that clocks on a wall show there, and back. The
// calendar counts days and hours on this local timeline, never on instants directly, so that
// a zone is a value to put in and not a rule to write again. UTC is the only one so far.

#pragma once

#include <chrono>

#include "base/instant.h"

namespace belfry {

using LocalTime = std::chrono::local_time<Ticks>;

class Zone {
 public:
  LocalTime local(Instant instant) const { return LocalTime{instant.time_since_epoch()}; }
  Instant instant(LocalTime local) const { return Instant{local.time_since_epoch()}; }

  bool operator==(const Zone&) const = default;
};

}  // namespace belfry
