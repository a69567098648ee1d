// SPDX-License-Identifier: MIT
//
// What a firing costs the engine, with few jobs in the store and with very many: it should
// cost the same. Targets answer at once, and the store keeps only what it must to be asked
// again; its time is taken apart. What is measured is processor time, of a firing from due to
// settled, and of the agenda alone. One JSON line per measurement.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engine/agenda.h"
#include "engine/engine.h"

namespace belfry {
namespace {

constexpr Instant kBegin{std::chrono::sys_days{std::chrono::year{2026} / 3 / 27}};
constexpr Ticks kApart = Millis{1};  // between one job's due time and the next one's
constexpr int kFirings = 300'000;
constexpr int kRounds = 5;
constexpr std::int64_t kJobsOfAUnit = 5'000'000;  // of Azure's largest plan, each once a minute
constexpr double kGrowthMax = 1.2;  // of the cost of a firing, from the fewest jobs to the most

// Of this thread: what others do on the machine does not count.
double cpu_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += cpu_nanoseconds() - began_; }

 private:
  double& sum_;
  double began_ = cpu_nanoseconds();
};

// Every n minutes, so that all jobs find a place.
int period_minutes(std::int64_t jobs) {
  return static_cast<int>(jobs * kApart / std::chrono::minutes{1}) + 1;
}

Job template_job(std::int64_t jobs) {
  Job job;
  job.key = JobKey{{"2d7f8cf5-6ee3-4d37-a1f7-3f6b2b7f3a55", "production", "backups"}, ""};
  HttpAction call;
  call.uri = "https://example.com/hooks/nightly";
  call.method = "POST";
  call.headers = {{"content-type", "application/json"}};
  call.body = R"({"hello":"world"})";
  job.definition.edit().action.what = call;
  job.definition.edit().timing.recurrence = Recurrence{};
  job.definition.edit().timing.recurrence->frequency = Frequency::minute;
  job.definition.edit().timing.recurrence->interval = period_minutes(jobs);
  job.gen = 1;
  return job;
}

// Jobs that differ in nothing but their number and how far they have come. They are due one
// after the other, round and round, so the store need not search: those that wait are the ones
// after the last that was begun.
class ThinStore final : public Store {
 public:
  explicit ThinStore(std::int64_t jobs)
      : template_(template_job(jobs)),
        jobs_(jobs),
        progress_(static_cast<std::size_t>(std::min<std::int64_t>(jobs, 2 * kFirings))) {}

  double nanoseconds() const { return nanoseconds_; }

  Result<std::vector<WriteResult>> commit(const std::vector<Write>& batch) override {
    const Stopwatch stopwatch(nanoseconds_);
    for (const Write& write : batch) advance(std::get<AdvanceJob>(write).job);
    return std::vector<WriteResult>(batch.size(), WriteResult::applied);
  }

  Result<std::vector<Job>> due(const DueQuery& query) override {
    const Stopwatch stopwatch(nanoseconds_);
    std::vector<Job> jobs;
    // All are of one subscription: there are no others beside it.
    if (!query.subscriptions.empty() && query.of == DueOf::others) return jobs;
    const std::int64_t count = std::min(static_cast<std::int64_t>(query.limit), jobs_);
    for (std::int64_t i = 0; i < count; ++i) {
      Job job = job_of((begun_ + i) % jobs_);
      if (job.next->started) break;  // once round
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

  Result<std::size_t> sweep(const SweepLimits&) override { return std::size_t{0}; }
  Result<std::vector<Job>> started(std::size_t) override { return std::vector<Job>(); }
  Result<std::optional<JobCollection>> collection(const CollectionKey&) override {
    return std::optional<JobCollection>();
  }
  Result<std::vector<JobCollection>> collections(const CollectionQuery&) override {
    return std::vector<JobCollection>();
  }
  Result<SkuCounts> count_collections(const std::string&, Sku) override { return SkuCounts{}; }
  Result<std::optional<Job>> job(const JobKey&) override { return std::optional<Job>(); }
  Result<std::optional<JobName>> job_name(const JobKey&) override {
    return std::optional<JobName>();
  }
  Result<std::vector<Job>> jobs(const JobQuery&) override { return std::vector<Job>(); }
  Result<std::int64_t> count_jobs(const CollectionKey&) override { return std::int64_t{0}; }
  Result<std::vector<HistoryEntry>> history(const HistoryQuery&) override {
    return std::vector<HistoryEntry>();
  }

 private:
  struct Progress {
    JobStatus status;
    Instant covered_until;
    std::int64_t last_seq = 0;
    std::int64_t ran = 0;
    DueAttempt next;
  };

  Job job_of(std::int64_t number) const {
    const Instant first = kBegin + number * kApart;
    Job job = template_;
    job.id = JobId{number + 1};
    job.key.edit().name = fmt::format("job{}", number);
    job.definition.edit();  // its own, as a store that reads it would give
    job.defined_at = first;
    job.covered_until = first - kOneTick;
    job.last_seq = 1;
    job.next = DueAttempt{.due = first, .occurrence = {first, 1}};
    const auto place = static_cast<std::size_t>(number);
    if (place >= progress_.size() || progress_[place].last_seq == 0) return job;
    const Progress& progress = progress_[place];
    job.status = progress.status;
    job.covered_until = progress.covered_until;
    job.last_seq = progress.last_seq;
    job.ran = progress.ran;
    job.next = progress.next;
    return job;
  }

  void advance(const Job& job) {
    ASSERT(job.next);
    if (job.next->started) ++begun_;
    progress_.at(static_cast<std::size_t>(job.id) - 1) = {job.status, job.covered_until,
                                                          job.last_seq, job.ran, *job.next};
  }

  const Job template_;
  const std::int64_t jobs_;
  std::int64_t begun_ = 0;
  double nanoseconds_ = 0;
  // Of those that are begun before the measurement ends. Made beforehand: what a store spends
  // on memory is not the engine's cost.
  std::vector<Progress> progress_;
};

// Takes everything; what it took is answered before the next step.
class PromptDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job&, Instant) override {
    taken_.push_back(attempt);
    return true;
  }

  std::int64_t answer_all(Engine& engine, Instant now) {
    Outcome outcome;
    outcome.succeeded = true;
    outcome.message = "Http Action - Response from host 'example.com': 'OK' Response Headers: ...";
    outcome.started = outcome.ended = now;
    for (const Attempt& attempt : taken_) engine.report(attempt, outcome);
    return static_cast<std::int64_t>(std::exchange(taken_, {}).size());
  }

 private:
  std::vector<Attempt> taken_;
};

struct FiringCost {
  double engine_ns = 0;
  double store_ns = 0;
};

FiringCost measure_firings(std::int64_t jobs, int together) {
  ThinStore store(jobs);
  PromptDispatcher dispatcher;
  EngineOptions options;
  options.sweep_every = std::chrono::days{1000};
  Engine engine(store, dispatcher, Random(1), options);
  engine.step(kBegin - std::chrono::hours{1});  // reads the first jobs
  std::int64_t firings = 0;
  Instant now = kBegin;
  const double store_before = store.nanoseconds();
  const double before = cpu_nanoseconds();
  while (firings < kFirings) {
    const Instant next = engine.step(now);
    const std::int64_t answered = dispatcher.answer_all(engine, now);
    firings += answered;
    // What was answered is settled in the step that begins the next ones.
    now = answered == 0 ? std::max(next, now) : now + together * kApart;
  }
  const double store_each = (store.nanoseconds() - store_before) / static_cast<double>(firings);
  return {(cpu_nanoseconds() - before) / static_cast<double>(firings) - store_each, store_each};
}

// The machine is quicker in one minute than in the next, and neighbours spoil its caches: all
// sizes are measured in turn, and of several rounds the least of each is the engine's own cost.
void measure_growth(int together) {
  constexpr std::int64_t kSizes[] = {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  std::map<std::int64_t, FiringCost> least;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::int64_t jobs : kSizes) {
      const FiringCost cost = measure_firings(jobs, together);
      const auto [it, first] = least.try_emplace(jobs, cost);
      if (!first && cost.engine_ns < it->second.engine_ns) it->second = cost;
    }
  }
  for (const auto& [jobs, cost] : least) {
    const double growth = cost.engine_ns / least.at(kSizes[0]).engine_ns;
    fmt::print(
        "{{\"bench\":\"engine\",\"case\":\"firing, {} together\",\"jobs\":{},\"firings\":{},"
        "\"cpu_ns\":{:.0f},\"store_cpu_ns\":{:.0f},\"growth\":{:.2f},\"met\":{}}}\n",
        together, jobs, kFirings, cost.engine_ns, cost.store_ns, growth, growth <= kGrowthMax);
  }
}

// The engine's share of a whole unit of Azure's largest plan: how many cores it takes to decide
// what five million jobs do, each once a minute. Disk and network come on top.
void measure_unit() {
  const FiringCost cost = measure_firings(kJobsOfAUnit, 1'000);
  const double per_second = static_cast<double>(kJobsOfAUnit) / 60;
  fmt::print(
      "{{\"bench\":\"engine\",\"case\":\"a P20 unit: 5 M jobs once a minute\","
      "\"firings_per_second\":{:.0f},\"cpu_ns\":{:.0f},\"cores\":{:.2f}}}\n",
      per_second, cost.engine_ns, per_second * cost.engine_ns / 1e9);
}

// One job leaves the agenda and comes back later, as it does with every firing.
void measure_agenda(std::size_t size) {
  Agenda agenda(size + 1);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < size; ++i) {
    Job job = template_job(1);
    job.id = JobId{static_cast<std::int64_t>(i) + 1};
    job.next = DueAttempt{.due = kBegin + static_cast<std::int64_t>(i) * kApart, .occurrence = {}};
    jobs.push_back(std::move(job));
  }
  agenda.load(std::move(jobs));
  const double before = cpu_nanoseconds();
  for (int i = 0; i < kFirings; ++i) {
    Job job = agenda.take_first();
    job.next->due += static_cast<std::int64_t>(size) * kApart;
    agenda.update(std::move(job));
  }
  fmt::print("{{\"bench\":\"engine\",\"case\":\"agenda\",\"jobs\":{},\"cpu_ns\":{:.0f}}}\n", size,
             (cpu_nanoseconds() - before) / kFirings);
}

}  // namespace
}  // namespace belfry

int main() {
  for (const std::size_t size : {100, 1'000, 10'000}) belfry::measure_agenda(size);
  for (const int together : {10, 100}) belfry::measure_growth(together);
  belfry::measure_unit();
}
