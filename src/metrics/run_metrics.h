// SPDX-License-Identifier: MIT
//
// RunMetrics counts what becomes of occurrences, how late they began, how long their attempts
// took, and how long the engine waits for its store. It counts attempts as they are reported and
// occurrences as they are written down, so that what a failed transaction took back is not
// counted. One occurrence too few may be counted, where an attempt fails in the very step in
// which its job is changed.

#pragma once

#include <optional>

#include "base/stopwatch.h"
#include "engine/engine_observer.h"
#include "metrics/counter.h"
#include "metrics/families.h"
#include "metrics/histogram.h"
#include "model/attempt.h"

namespace belfry {

class RunMetrics final : public EngineObserver {
 public:
  RunMetrics();

  // Any thread: what the dispatcher tells the engine.
  void reported(const Attempt& attempt, const Outcome& outcome);

  void committing() override;
  void committed(const std::vector<Write>& writes,
                 const std::vector<WriteResult>& results) override;
  void commit_failed() override;

  // Any thread.
  Families collect() const;

 private:
  void count(const AdvanceJob& advance);
  void count(const PutJob& put);
  void count(const AddHistory& added);
  template <typename Other>
  void count(const Other&) {}

  Counter attempts_completed_;
  Counter attempts_failed_;
  Counter retries_;
  Histogram start_lateness_;
  Histogram attempt_duration_;

  Counter occurrences_completed_;
  Counter occurrences_failed_;
  Counter missed_overlapping_;
  Counter missed_not_started_;
  Counter missed_changed_;

  std::optional<Stopwatch> commit_watch_;  // of the engine's thread
  Histogram commit_duration_;
  Counter commit_failures_;
};

}  // namespace belfry
