// SPDX-License-Identifier: MIT
//
// Checker judges a run by its record: it joins what the calendar says, what the dispatcher
// received and what the history says, job by job (job_replay.h). It keeps the last events of
// every job, to show them with a fault.

#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/job_replay.h"
#include "tests/simulation/record.h"

namespace belfry {

class Checker {
 public:
  explicit Checker(const ReplayRules& rules) : rules_(rules) {}

  void see(Event event);
  void finish(Instant now);

  // A fault that is not in the record but in what was seen beside it.
  void fault(JobId job, const std::string& what);

  bool content() const { return faults_.empty(); }
  const std::vector<std::string>& faults() const { return faults_; }

  // The faults, and what the first job at fault went through last.
  std::string report() const;

  static constexpr std::size_t kEventsShown = 60;

 private:
  struct Watched {
    explicit Watched(JobReplay job) : replay(std::move(job)) {}
    JobReplay replay;
    std::deque<Event> last;
  };

  Watched& watched(JobId job);
  void show(Watched& job, Event event);
  void note_faults(JobId job);

  const ReplayRules rules_;
  std::map<JobId, Watched> jobs_;
  std::vector<std::string> found_;  // by the replay of the job that is being looked at
  std::vector<std::string> faults_;
  std::optional<JobId> first_at_fault_;
};

// What a checker that is shown the record finds.
std::vector<std::string> faults_of(const Record& record, const ReplayRules& rules, Instant end);

}  // namespace belfry
