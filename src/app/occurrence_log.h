// SPDX-License-Identifier: MIT
//
// OccurrenceLog writes down what became of occurrences, each line with the job's id and the
// occurrence's (x-ms-execution-tag, and the trace id that targets were given): attempts that
// failed, occurrences that failed for good or were missed; at level debug every attempt. What
// was not stored is not told.
//
// It writes on the engine's thread. Ten thousand failures a second must not hold up the jobs
// that are due: beyond kLinesMax lines a second only their number is told.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_observer.h"

namespace belfry {

class OccurrenceLog final : public EngineObserver {
 public:
  static constexpr int kLinesMax = 100;
  static constexpr Ticks kLinesMaxIn = std::chrono::seconds{1};
  static constexpr std::size_t kReasonBytesMax = 300;

  using Log = std::function<void(LogLevel, std::string_view, std::initializer_list<LogField>)>;
  OccurrenceLog(LogLevel least, const Clock& clock, Log log)
      : least_(least), clock_(clock), log_(std::move(log)) {}

  void committing() override {}
  void committed(const std::vector<Write>& writes,
                 const std::vector<WriteResult>& results) override;
  void commit_failed() override {}

 private:
  void tell(const Job& job, const HistoryEntry& row);
  void tell_gap(const Job& job, const HistoryEntry& row);
  bool takes(LogLevel level);

  const LogLevel least_;
  const Clock& clock_;
  const Log log_;
  Instant window_ = kFirstInstant;
  int lines_ = 0;     // in this window
  int left_out_ = 0;  // since they were last told of
};

// What failed, without what the target answered: that may be long, and none of ours to write down.
std::string_view reason_of(std::string_view message);

}  // namespace belfry
