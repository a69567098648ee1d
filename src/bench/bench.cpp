// SPDX-License-Identifier: MIT

#include "bench/bench.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/api_client.h"
#include "bench/failure.h"
#include "bench/figures.h"
#include "bench/server_process.h"
#include "bench/sink.h"

namespace belfry {
namespace {

constexpr int kConnections = 64;
constexpr double kFarAway = 4'102'444'800;  // the year 2100: stored, never due here
constexpr double kArriveWithinSeconds = 600;
constexpr int kLeadTriesMax = 5;
constexpr double kRateAtFirst = 1'000;  // creates a second, until we know better
constexpr int kHistoryRows = 100;
constexpr int kSyncs = 200;
constexpr std::size_t kSyncBytes = 4096;

// Targets: the wait is an exact timer, not a poll.
constexpr double kLateP50Ms = 1;
constexpr double kLateP99Ms = 10;

// One 4 KiB page made durable: everything that waits for the disk is a multiple of it.
std::vector<double> sync_milliseconds(const std::filesystem::path& directory) {
  const auto path = directory / "sync";
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) throw BenchFailure("cannot write to " + path.native());
  const std::string page(kSyncBytes, 'x');
  std::vector<double> out;
  for (int i = 0; i < kSyncs; ++i) {
    if (pwrite(fd, page.data(), page.size(), i * static_cast<off_t>(kSyncBytes)) < 0) break;
    const auto began = std::chrono::steady_clock::now();
    fdatasync(fd);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    out.push_back(took.count());
  }
  close(fd);
  return out;
}

struct Fired {
  Arrivals arrivals;
  double due = 0;
  std::map<std::string, double> thread_seconds;  // of the server, by name; none of a stranger's
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options), directory_(options.store_parent) {
    if (options.server_port == 0) server_.emplace(kThisBinary, directory_.path() / "store");
    client_.emplace(server_ ? server_->port() : options.server_port, options.token);
  }

  ~Bench() {
    if (server_) return;  // its store goes with it
    try {
      for (const JobBatch& batch : batches_) client_->delete_collections(batch);
    } catch (const BenchFailure& failure) {
      fmt::print(stderr, "belfry: the collections bench{}-… are left: {}\n", getpid(),
                 failure.what());
    }
  }

  void run() {
    measure("fdatasync of 4 KiB", [this](Figures& figures) { disk(figures); });
    for (const int connections : {1, 16, 64, 256}) {
      measure(fmt::format("durable PUT job, {} connections", connections),
              [this, connections](Figures& figures) { puts(figures, connections); });
    }
    measure("GET job, 64 connections", [this](Figures& figures) { get_job(figures); });
    measure("GET history page of 100, 64 connections",
            [this](Figures& figures) { get_history(figures); });
    measure("lateness of jobs spread over time", [this](Figures& figures) { lateness(figures); });
    measure("herd in one instant", [this](Figures& figures) { herd(figures); });
    measure("executions of a due backlog", [this](Figures& figures) { executions(figures); });
  }

 private:
  void measure(const std::string& what, const std::function<void(Figures&)>& body) {
    if (what.find(options_.only) == std::string::npos) return;
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (terminal) fmt::print(stderr, "… {}", what);
    Figures figures{.what = what, .values = {}};
    body(figures);
    if (terminal) fmt::print(stderr, "\r\033[K");
    fmt::print("{}", options_.json ? as_json(figures) : as_line(figures));
    std::fflush(stdout);
  }

  // The caller's own; nothing of it is left on a stranger's server.
  JobBatch new_batch(std::int64_t count, double first_due) {
    const std::string prefix = fmt::format("bench{}-{}-c", getpid(), batches_.size());
    const JobBatch batch{.prefix = prefix,
                         .count = count,
                         .sink_port = sink_.port(),
                         .first_due = first_due,
                         .seconds_apart = 0};
    batches_.push_back(batch);
    client_->put_collections(batch);
    return batch;
  }

  void disk(Figures& figures) {
    const auto times = sync_milliseconds(directory_.path());
    figures.values = {{"p50_ms", quantile(times, 0.5)}, {"p99_ms", quantile(times, 0.99)}};
  }

  static void add_load(Figures& figures, const LoadResult& result) {
    figures.values = {{"per_second", result.per_second()},
                      {"requests", static_cast<double>(result.answered)},
                      {"answer_bytes", std::floor(static_cast<double>(result.bytes) /
                                                  static_cast<double>(result.answered))},
                      {"p50_ms", quantile(result.latencies_ms, 0.5)},
                      {"p99_ms", quantile(result.latencies_ms, 0.99)}};
  }

  // Every job is a new one. One connection waits for the disk each time: fewer will do.
  void puts(Figures& figures, int connections) {
    const std::int64_t count =
        connections == 1 ? std::max<std::int64_t>(options_.requests / 10, 1) : options_.requests;
    const JobBatch batch = new_batch(count, kFarAway);
    const LoadResult result = client_->put_jobs(batch, connections);
    if (connections == kConnections) creates_per_second_ = result.per_second();
    add_load(figures, result);
  }

  void get_job(Figures& figures) {
    const JobBatch batch = new_batch(1, kFarAway);
    client_->put_jobs(batch, 1);
    add_load(figures, client_->get_again_and_again(client_->job_target(batch, 0), kConnections,
                                                   options_.requests));
  }

  // A job with a page of history; `run` makes a row each time.
  void get_history(Figures& figures) {
    const JobBatch batch = new_batch(1, kFarAway);
    client_->put_jobs(batch, 1);
    for (int row = 0; row < kHistoryRows; ++row) {
      client_->run(client_->job_target(batch, 0, "/run"));
      wait_for_calls(1);
    }
    add_load(figures, client_->get_again_and_again(
                          client_->job_target(batch, 0, "/history", "&$top=100"), kConnections,
                          std::max<std::int64_t>(options_.requests / 4, 1)));
  }

  Arrivals wait_for_calls(std::int64_t count) {
    if (!sink_.wait_for(count, kArriveWithinSeconds)) {
      throw BenchFailure(fmt::format("only {} of {} calls came", sink_.take().count, count));
    }
    return sink_.take();
  }

  // All jobs are created before the first is due: what is measured is how they run.
  Fired fire(std::int64_t count, double spread_seconds) {
    if (creates_per_second_ == 0) warm_up();
    double lead = 2 + 1.5 * static_cast<double>(count) / creates_per_second_;
    for (int tries = 0; tries < kLeadTriesMax; ++tries, lead *= 2) {
      JobBatch batch = new_batch(count, seconds_since_1970() + lead);
      batch.seconds_apart = spread_seconds / static_cast<double>(count);
      client_->put_jobs(batch, kConnections);
      if (seconds_since_1970() < batch.first_due) return watch(batch);
      client_->wait_until_completed(batch);  // too late: again, with more time
      sink_.take();
    }
    throw BenchFailure("the jobs cannot be created before they are due");
  }

  void warm_up() {
    const JobBatch batch = new_batch(static_cast<std::int64_t>(kRateAtFirst), kFarAway);
    creates_per_second_ = client_->put_jobs(batch, kConnections).per_second();
  }

  Fired watch(const JobBatch& batch) {
    Fired fired{.arrivals = {}, .due = batch.first_due, .thread_seconds = {}};
    const auto before = server_ ? thread_seconds(server_->id()) : fired.thread_seconds;
    fired.arrivals = wait_for_calls(batch.count);
    client_->wait_until_completed(batch);
    if (server_) fired.thread_seconds = thread_seconds(server_->id());
    for (const auto& [name, seconds] : before) fired.thread_seconds[name] -= seconds;
    if (fired.arrivals.count != batch.count) throw BenchFailure("a job was called more than once");
    return fired;
  }

  void lateness(Figures& figures) {
    const Fired fired = fire(options_.spread, options_.spread_seconds);
    std::vector<double> late_ms = fired.arrivals.late_seconds;
    for (double& late : late_ms) late *= 1000;
    const double p50 = quantile(late_ms, 0.5);
    const double p99 = quantile(late_ms, 0.99);
    const double early = static_cast<double>(fired.arrivals.early());
    figures.values = {{"jobs", static_cast<double>(options_.spread)},
                      {"seconds", options_.spread_seconds},
                      {"p50_ms", p50},
                      {"p99_ms", p99},
                      {"max_ms", quantile(late_ms, 1)},
                      {"early", early}};
    figures.met = p50 <= kLateP50Ms && p99 <= kLateP99Ms && early == 0;
  }

  void herd(Figures& figures) {
    const Fired fired = fire(options_.herd, 0);
    figures.values = {{"jobs", static_cast<double>(options_.herd)},
                      {"last_sent_ms", 1000 * (fired.arrivals.last - fired.due)},
                      {"early", static_cast<double>(fired.arrivals.early())}};
  }

  void executions(Figures& figures) {
    const Fired fired = fire(options_.backlog, 0);
    const double jobs = static_cast<double>(options_.backlog);
    figures.values = {{"jobs", jobs},
                      {"per_second", jobs / (fired.arrivals.last - fired.arrivals.first)}};
    double cpu = 0;
    for (const auto& [name, seconds] : fired.thread_seconds) cpu += seconds;
    if (server_) figures.values.emplace_back("cpu_us", 1e6 * cpu / jobs);
    for (const auto& [name, seconds] : fired.thread_seconds) {
      if (seconds > 0) figures.values.emplace_back("cpu_us_" + name, 1e6 * seconds / jobs);
    }
    if (server_) figures.values.emplace_back("rss_mb", resident_bytes(server_->id()) / 1e6);
  }

  const BenchOptions& options_;
  const TemporaryDirectory directory_;
  std::optional<ServerProcess> server_;
  std::optional<ApiClient> client_;
  Sink sink_;
  std::vector<JobBatch> batches_;
  double creates_per_second_ = 0;
};

}  // namespace

void BenchOptions::make_quick() {
  for (std::int64_t* size : {&backlog, &spread, &herd, &requests}) {
    *size = std::max<std::int64_t>(*size / 10, 1);
  }
  spread_seconds = std::max(spread_seconds / 10, 1);
}

int run_bench(const BenchOptions& options) {
  try {
    Bench(options).run();
    return 0;
  } catch (const BenchFailure& failure) {
    fmt::print(stderr, "belfry: the benchmark was given up: {}\n", failure.what());
    return 1;
  }
}

}  // namespace belfry
