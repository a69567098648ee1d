// SPDX-License-Identifier: MIT

#include "engine/fair_agenda.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"

namespace belfry {
namespace {

// A crowd is loaded in small parts, for others wait meanwhile.
constexpr std::size_t kPartsOfCrowd = 4;

// It is still a crowd when it has something due within this time. What its targets refuse comes
// back little by little: to be one agenda in between would mean to load everything anew each time.
constexpr Ticks kCrowdStays = std::chrono::seconds{1};

// Beside a crowd the store is asked for what others have due from the horizon on, within this time:
// to find it, the crowd's jobs are passed over that are due meanwhile, and not all that there are.
constexpr Ticks kOthersSeen = std::chrono::minutes{1};

std::string subscription_of(const Job& job) {
  return folded(job.key->collection.subscription);
}

// The subscription that has more than half of the jobs; empty where none has.
std::string subscription_of_most(const std::vector<Job>& jobs) {
  std::map<std::string, std::size_t> counts;
  for (const Job& job : jobs) {
    std::string subscription = subscription_of(job);
    if (2 * ++counts[subscription] > jobs.size()) return subscription;
  }
  return {};
}

}  // namespace

FairAgenda::FairAgenda(std::size_t size_max)
    : others_(size_max), crowd_(std::max<std::size_t>(1, size_max / kPartsOfCrowd)) {}

std::optional<DueQuery> FairAgenda::wants_load(Instant until) const {
  const bool others = others_.loads_at() <= until;
  if (crowded_.empty()) {
    if (!others) return std::nullopt;
    return DueQuery{.limit = others_.size_max(), .from = others_.horizon()};
  }
  std::vector<std::string> crowded(crowded_.begin(), crowded_.end());
  if (others) {
    return DueQuery{others_.size_max(), std::move(crowded), DueOf::others, others_.horizon(),
                    until + kOthersSeen};
  }
  if (crowd_.loads_at() > until) return std::nullopt;
  return DueQuery{crowd_.size_max(), std::move(crowded), DueOf::them, crowd_.horizon(),
                  until + kCrowdStays};
}

Instant FairAgenda::loads_at() const {
  if (crowded_.empty()) return others_.loads_at();
  return std::min(others_.loads_at(), crowd_.loads_at());
}

void FairAgenda::load(const DueQuery& asked, std::vector<Job> jobs, Instant until) {
  if (asked.of == DueOf::others) return load_others(asked, std::move(jobs), until);
  if (jobs.empty()) return clear();
  crowd_.load(std::move(jobs), asked.before);
}

void FairAgenda::load_others(const DueQuery& asked, std::vector<Job> jobs, Instant until) {
  const bool behind = jobs.size() >= others_.size_max() && jobs.back().next->due <= until;
  if (behind && crowded_.size() < kCrowdsMax) {
    const std::string most = subscription_of_most(jobs);
    if (!most.empty()) return part(std::move(jobs), most);
  }
  others_.load(std::move(jobs), asked.before);
}

// The crowd, which has a member more, is loaded anew.
void FairAgenda::part(std::vector<Job> jobs, const std::string& subscription) {
  crowded_.insert(subscription);
  const Instant horizon = jobs.back().next->due;
  std::erase_if(jobs, [this](const Job& job) { return in_crowd(job); });
  others_.load(std::move(jobs), horizon);
  crowd_.clear();
}

bool FairAgenda::in_crowd(const Job& job) const {
  const std::string& subscription = job.key->collection.subscription;
  return std::any_of(crowded_.begin(), crowded_.end(), [&](const std::string& one) {
    return equal_ignoring_case(one, subscription);
  });
}

void FairAgenda::update(Job job) {
  Agenda& agenda = in_crowd(job) ? crowd_ : others_;
  agenda.update(std::move(job));
}

void FairAgenda::forget(JobId id) {
  others_.forget(id);
  crowd_.forget(id);
}

void FairAgenda::clear() {
  crowded_.clear();
  others_.clear();
  crowd_.clear();
}

std::vector<JobId> FairAgenda::jobs_of(const CollectionKey& key) const {
  std::vector<JobId> ids = others_.jobs_of(key);
  const std::vector<JobId> crowd = crowd_.jobs_of(key);
  ids.insert(ids.end(), crowd.begin(), crowd.end());
  return ids;
}

}  // namespace belfry
