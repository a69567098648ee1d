// SPDX-License-Identifier: MIT

#include "app/pfx_upkeep.h"

#include <utility>

#include "api/certificates.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/thread_name.h"

namespace belfry {
namespace {

constexpr std::size_t kSlice = 100;

// Before those are tried again that could not be kept, because the store failed or somebody else
// wrote the job meanwhile.
constexpr Ticks kBeforeNextRound = std::chrono::seconds{1};

}  // namespace

PfxUpkeep::PfxUpkeep(SqliteStore& store, Engine& engine)
    : store_(store), engine_(engine), thread_([this] { run(); }) {}

PfxUpkeep::~PfxUpkeep() {
  {
    const std::lock_guard lock(waiting_->mutex);
    waiting_->ending = true;
  }
  waiting_->changed.notify_all();
  thread_.join();
}

void PfxUpkeep::run() {
  name_thread("pfx-upkeep");
  while (!open_all() && rest(kBeforeNextRound)) {
  }
}

// Whether none is left.
bool PfxUpkeep::open_all() {
  bool all = true;
  JobId after{std::numeric_limits<std::int64_t>::min()};
  while (true) {
    const auto jobs = store_.unopened_jobs(after, kSlice);
    if (!jobs) return false;
    if (jobs->empty()) return all;
    for (const JobName& job : *jobs) {
      const Stopwatch work;
      if (!open(job)) all = false;
      if (!rest(work.elapsed())) return false;
      after = job.id;
    }
  }
}

bool PfxUpkeep::open(const JobName& name) {
  const auto stored = store_.job(name.key);
  if (!stored) return false;
  if (*stored) {
    JobDefinition definition = *(*stored)->definition;
    if (keep_certificates(definition) && !keep(**stored, std::move(definition))) return false;
  }
  return store_.strike_unopened(name.id).has_value();
}

bool PfxUpkeep::keep(const Job& job, JobDefinition definition) {
  {
    const std::lock_guard lock(waiting_->mutex);
    waiting_->answered = false;
  }
  const bool asked =
      engine_.submit(KeepCertificatesCommand{*job.key, std::move(definition), job.gen},
                     [waiting = waiting_](const Result<Reply>& reply) {
                       const std::lock_guard lock(waiting->mutex);
                       waiting->answered = true;
                       waiting->kept = reply.has_value();
                       waiting->changed.notify_all();
                     });
  std::unique_lock lock(waiting_->mutex);
  if (asked) {
    waiting_->changed.wait(lock, [this] { return waiting_->answered || waiting_->ending; });
  }
  return asked && waiting_->answered && waiting_->kept;
}

// False: it is to end.
bool PfxUpkeep::rest(Ticks time) {
  std::unique_lock lock(waiting_->mutex);
  return !waiting_->changed.wait_for(lock, time, [this] { return waiting_->ending; });
}

}  // namespace belfry
