// SPDX-License-Identifier: MIT
//
// HistoryEntry is what the record says of one attempt, or of a gap: planned instants that
// were passed over for a reason, one row for all of them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/instant.h"
#include "model/job.h"

namespace belfry {

enum class HistoryStatus { completed, failed, postponed };

inline constexpr std::size_t kHistoryBodyBytesMax = 2048;
inline constexpr std::size_t kHistoryMessageBytesMax = 8192;

// The planned instants that a postponed row covers, `HistoryEntry::occurrence` being the first.
struct Gap {
  Instant last;
  std::int64_t count = 0;

  bool operator==(const Gap&) const = default;
};

struct HistoryEntry {
  JobId job{};
  Occurrence occurrence;
  ActionRole role = ActionRole::main;
  int retry = 0;
  std::int64_t repeat = 0;  // 1-based number of the occurrence since the job was last replaced
  Instant started;
  Instant ended;
  HistoryStatus status = HistoryStatus::completed;
  std::string message;
  std::optional<Gap> gap;

  bool operator==(const HistoryEntry&) const = default;
};

}  // namespace belfry
