// SPDX-License-Identifier: MIT

#include "tests/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace belfry {
namespace {

constexpr Instant kBegin{std::chrono::sys_days{std::chrono::year{2026} / 3 / 27}};
constexpr int kStepsAtOnceMax = 20'000;
constexpr std::chrono::days kEndingMax{60};

ReplayRules rules_of(const EngineOptions& options) {
  return {.catch_up = options.catch_up,
          .start_ahead = options.start_ahead,
          .refused_backoff = options.refused_backoff,
          .refused_backoff_max = options.refused_backoff_max,
          .ended_jobs_kept = options.ended_jobs_kept};
}

}  // namespace

bool StepFaults::any() const {
  return store.commit != CommitFault::none || store.failing_read || store.down ||
         store.sweep_fails || send.crash_before || send.crash_after || crash_before_reply;
}

EngineOptions simulated_engine_options() {
  EngineOptions options;
  options.sweep_every = std::chrono::hours{1};
  return options;
}

JobCollection Simulation::first_collection() {
  JobCollection collection;
  collection.key = {"sub", "group", "first"};
  collection.location = "West Europe";
  collection.quota = {.max_job_count = 1'000'000, .max_recurrence = {Frequency::minute, 1}};
  return collection;
}

Simulation::Simulation(std::uint64_t seed, EngineOptions options)
    : random_(seed),
      options_(std::move(options)),
      time_(kBegin + std::chrono::hours{9}),
      checker_(rules_of(options_)),
      store_(time_),
      dispatcher_(Random(random_.next()), time_, store_.truth()),
      clerk_(store_.truth(), options_.plans,
             [this](JobId job, const std::string& what) { checker_.fault(job, what); }),
      watcher_(store_) {
  start_engine();
  ASSERT(ask(PutCollectionCommand{first_collection(), {}}));
}

void Simulation::start_engine() {
  engine_ = std::make_unique<Engine>(store_, dispatcher_, Random(random_.next()), options_);
  wake_ = time_.passed();
}

Result<Reply> Simulation::ask(Command command, const StepFaults& faults) {
  clerk_.ask(std::move(command));
  step(faults);
  const auto reply = clerk_.last_reply();
  return reply ? *reply : Error{ErrorCode::unknown, "never answered", {}};
}

Result<Reply> Simulation::put(const std::string& name, const JobDefinition& definition) {
  return ask(PutJobCommand{key(name), definition});
}

Result<Reply> Simulation::patch(const std::string& name, const JobDefinition& definition,
                                bool enabled) {
  return ask(PatchJobCommand{key(name), definition, enabled, stored(name).gen});
}

Result<Reply> Simulation::run(const std::string& name) {
  return ask(RunJobCommand{key(name)});
}

Result<Reply> Simulation::remove(const std::string& name) {
  return ask(DeleteJobCommand{key(name)});
}

Result<Reply> Simulation::set_state(CollectionState state) {
  return ask(SetCollectionStateCommand{first_collection().key, state});
}

Instant Simulation::next_wake() const {
  const auto answer = dispatcher_.next_answer();
  const Instant wake = answer ? std::min(*answer, wake_) : wake_;
  // Whoever holds an engine looks again when the reason is gone, as app/engine_thread does.
  return was_held_ ? std::min(wake, std::max(held_until_, time_.passed())) : wake;
}

void Simulation::run_for(Ticks time) {
  run_to(time_.passed() + time);
}

void Simulation::run_to(Instant passed) {
  while (next_wake() <= passed && steps_at_once_ < kStepsAtOnceMax) {
    time_.go_to(next_wake());
    step();
  }
  time_.go_to(passed);
}

void Simulation::see(Event event) {
  event.step = steps_;
  event.now = now_;
  if (keeps_record_) record_.push_back(event);
  checker_.see(std::move(event));
}

void Simulation::see_all(std::vector<Event> events) {
  for (Event& event : events) see(std::move(event));
}

void Simulation::step(const StepFaults& faults) {
  ++steps_;
  now_ = time_.told();
  guard_against_spinning();
  deliver_answers();
  const bool crashed = !run_engine(faults);
  look_around(
      {.applied = store_.applied(), .faulty = faults.any(), .swept = store_.swept().has_value()});
  if (crashed) return crash();
  if (steps_ % check_wake_every_ == 0) check_wake();
}

void Simulation::guard_against_spinning() {
  steps_at_once_ = time_.passed() == last_step_at_ ? steps_at_once_ + 1 : 0;
  last_step_at_ = time_.passed();
  if (steps_at_once_ == kStepsAtOnceMax) checker_.fault({}, "the engine spins");
}

void Simulation::deliver_answers() {
  for (Answered& answer : dispatcher_.take_answers()) {
    engine_->report(answer.attempt, answer.outcome);
    see({.step = 0, .now = {}, .job = answer.attempt.job, .what = std::move(answer)});
  }
}

// False: the process died.
bool Simulation::run_engine(const StepFaults& faults) {
  store_.begin_step(faults.store);
  dispatcher_.begin_step(faults.send);
  clerk_.submit_all(*engine_, [faults] {
    if (faults.crash_before_reply) throw Crash{};
  });
  was_held_ = time_.passed() < held_until_;
  engine_->hold(was_held_);
  try {
    wake_ = time_.when_told(engine_->step(now_));
    return true;
  } catch (const Crash&) {
    return false;
  }
}

void Simulation::look_around(const StepOutcome& outcome) {
  Watcher::News news = watcher_.take_news();
  see_all(std::move(news.before_writes));
  see_all(clerk_.resolve(outcome));
  see_all(std::move(news.gaps));
  see_all(std::move(news.jobs));
  see_sends();
  if (store_.swept()) {
    see_all(clerk_.find_swept());
    // Without the time, rows that a wrong clock wrote would hold up what is old behind them.
    const SweepLimits& limits = *store_.swept();
    if (limits.now != limits.history_before + options_.history_kept) {
      checker_.fault({}, "a sweep that does not know the time");
    }
    swept_before_ = std::max(swept_before_, store_.swept()->history_before);
  }
}

void Simulation::see_sends() {
  for (const auto& [job, sent] : dispatcher_.sends()) {
    if (sent.accepted) {
      sends_[job].push_back(sent.attempt.occurrence.seq);
      watcher_.forget_refusal(job);
    } else {
      watcher_.note_refusal(job, sent.attempt);
    }
    see({.step = 0, .now = {}, .job = job, .what = sent});
  }
}

// The engine knows what it waits for: it sleeps over nothing, and what is started is on the
// wire.
void Simulation::check_wake() {
  if (!engine_->healthy() || was_held_) return;
  const auto started = *store_.truth().started(options_.in_flight_max + 1);
  for (const Job& job : started) {
    if (!watcher_.was_refused(job.id) && !dispatcher_.on_wire(attempt_of(job))) {
      checker_.fault(job.id, fmt::format("step {}: started, and not on the wire", steps_));
    }
  }
  if (started.size() >= options_.in_flight_max) return;
  const auto first = *store_.truth().due({1});
  const bool sleeps =
      !first.empty() && time_.when_told(first[0].next->due) < wake_ && wake_ > time_.passed();
  // A job that rests is not started any more, but its call may still take a place.
  if (sleeps && started.size() + resting_on_wire() < options_.in_flight_max) {
    checker_.fault(first[0].id, fmt::format("step {}: the engine sleeps over it", steps_));
  }
}

std::size_t Simulation::resting_on_wire() {
  std::size_t count = 0;
  for (const auto& [key, collection] : clerk_.collections()) {
    for (const auto& [name, job] : collection.jobs) {
      const auto stored = *store_.truth().job(job.key);
      const bool rests = stored && stored->next && stored->next->suspended;
      if (rests && dispatcher_.on_wire(attempt_of(*stored))) ++count;
    }
  }
  return count;
}

void Simulation::crash() {
  dispatcher_.lose_all();
  watcher_.forget_refusals();
  see({.step = 0, .now = {}, .job = {}, .what = Crashed{}});
  start_engine();
}

void Simulation::set_clock_by(Ticks by) {
  time_.set_clock_by(by);
  wake_ = time_.passed();
  see({.step = 0, .now = {}, .job = {}, .what = ClockSet{}});
}

// Or waits because its target was full.
bool Simulation::something_is_tried() {
  for (const auto& [key, collection] : clerk_.collections()) {
    for (const auto& [name, job] : collection.jobs) {
      const auto stored = *store_.truth().job(job.key);
      if (!stored || !stored->next) continue;
      const DueAttempt& next = *stored->next;
      if (next.suspended) {
        if (next.started && dispatcher_.on_wire(attempt_of(*stored))) return true;
        continue;
      }
      if (next.open() || next.origin == Origin::extra) return true;
      if (next.occurrence.scheduled_for <= time_.told()) return true;
    }
  }
  return false;
}

void Simulation::end() {
  dispatcher_.set_healthy();
  held_until_ = time_.passed();
  step();
  const Instant latest = time_.passed() + kEndingMax;
  const auto busy = [this] { return something_is_tried() || wake_ <= time_.passed(); };
  while (busy() && time_.passed() < latest && steps_at_once_ < kStepsAtOnceMax) {
    time_.go_to(next_wake());
    step();
  }
  checker_.finish(time_.told());
  clerk_.audit();
  audit_history();
}

// The history holds the rows that were seen and no others, except for what was swept.
void Simulation::audit_history() {
  for (const auto& [key, collection] : clerk_.collections()) {
    for (const auto& [name, job] : collection.jobs) {
      HistoryQuery query;
      query.job = job.id;
      query.limit = 1'000'000;
      Watcher::Rows expected = watcher_.rows_of(job.id);
      const HistoryPlace forgotten = watcher_.forgotten_before(job.id);
      const auto rows = *store_.truth().history(query);
      for (const HistoryEntry& row : rows) {
        const HistoryPlace place{row.occurrence.seq, row.role, row.retry};
        if (place < forgotten) continue;
        const auto it = expected.find(place);
        const bool seen = it != expected.end() && it->second == row;
        if (!seen) checker_.fault(job.id, fmt::format("row #{} came unseen", place.seq));
        expected.erase(place);
      }
      for (const auto& [place, row] : expected) {
        if (row.ended >= swept_before_) {
          checker_.fault(job.id, fmt::format("row #{} is gone", place.seq));
        }
      }
    }
  }
}

Job Simulation::stored(const std::string& name) {
  const auto job = *store_.truth().job(key(name));
  ASSERT(job);
  return *job;
}

std::vector<HistoryEntry> Simulation::history(const std::string& name) {
  HistoryQuery query;
  query.job = stored(name).id;
  query.limit = 1'000'000;
  auto rows = *store_.truth().history(query);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

int Simulation::sends(const std::string& name, std::int64_t seq) {
  const auto& seqs = sends_[stored(name).id];
  return static_cast<int>(std::count(seqs.begin(), seqs.end(), seq));
}

}  // namespace belfry
