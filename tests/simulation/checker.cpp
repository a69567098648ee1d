// SPDX-License-Identifier: MIT

#include "tests/simulation/checker.h"

#include <fmt/format.h>

namespace belfry {
namespace {

bool concerns_all(const Event& event) {
  return std::holds_alternative<Crashed>(event.what) ||
         std::holds_alternative<ClockSet>(event.what);
}

}  // namespace

Checker::Watched& Checker::watched(JobId job) {
  return jobs_.try_emplace(job, JobReplay(rules_, found_)).first->second;
}

void Checker::show(Watched& job, Event event) {
  job.replay.see(event);
  job.last.push_back(std::move(event));
  if (job.last.size() > kEventsShown) job.last.pop_front();
}

void Checker::see(Event event) {
  if (!concerns_all(event)) {
    const JobId job = event.job;
    show(watched(job), std::move(event));
    return note_faults(job);
  }
  for (auto& [id, job] : jobs_) {
    show(job, event);
    note_faults(id);
  }
}

void Checker::finish(Instant now) {
  for (auto& [id, job] : jobs_) {
    job.replay.finish(now);
    note_faults(id);
  }
}

void Checker::note_faults(JobId job) {
  for (std::string& what : found_) fault(job, what);
  found_.clear();
}

void Checker::fault(JobId job, const std::string& what) {
  if (!first_at_fault_) first_at_fault_ = job;
  faults_.push_back(fmt::format("job {}: {}", static_cast<std::int64_t>(job), what));
}

std::string Checker::report() const {
  constexpr std::size_t kFaultsShown = 10;
  std::string text = fmt::format("{} faults\n", faults_.size());
  for (std::size_t i = 0; i < faults_.size() && i < kFaultsShown; ++i) text += faults_[i] + "\n";
  const auto job = first_at_fault_ ? jobs_.find(*first_at_fault_) : jobs_.end();
  if (job == jobs_.end()) return text;
  text += "the job's last events:\n";
  for (const Event& event : job->second.last) text += text_of(event) + "\n";
  return text;
}

std::vector<std::string> faults_of(const Record& record, const ReplayRules& rules, Instant end) {
  Checker checker(rules);
  for (const Event& event : record) checker.see(event);
  checker.finish(end);
  return checker.faults();
}

}  // namespace belfry
