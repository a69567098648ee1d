// SPDX-License-Identifier: MIT
//
// What does a long history cost? Fills a store with rows that are old enough to go, and
// measures a page of a job's history, a page of its failed rows, and how late jobs are while the
// server removes the old rows: beside a server that has none, in turns; medians count.
//
//   history_bench BELFRY [--rows N]

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "bench/api_client.h"
#include "bench/figures.h"
#include "bench/filled_store.h"
#include "bench/server_process.h"
#include "bench/sink.h"

namespace belfry {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kRowsDefault = 10'000'000;
constexpr std::int64_t kJobs = 10'000;
constexpr std::size_t kPage = 100;
constexpr int kPages = 500;
constexpr double kPageP99Ms = 10;
constexpr std::int64_t kSpread = 5'000;
constexpr double kSpreadSeconds = 10;
constexpr double kLeadSeconds = 5;
constexpr int kRounds = 3;
constexpr double kWaitSeconds = 300;
constexpr double kLatenessGrowthMax = 1.2;  // of the p99, through the sweep

void fill(Store& store, std::int64_t rows) {
  must(store.commit({PutCollection{sample_collection()}}));
  const Instant now = WallClock{}.now();
  add_jobs(store, {1, kJobs, now + std::chrono::days{30}, Ticks{0}, 9});
  // Older than history is kept, so that the server begins to remove them at once.
  add_rows(store, {kJobs, rows, now - std::chrono::days{100}, std::chrono::days{30} / rows});
}

void measure_pages(Store& store, const std::string& what, HistoryQuery query, std::int64_t rows) {
  Random random(7);
  std::vector<double> milliseconds;
  for (int i = 0; i < kPages; ++i) {
    query.job = JobId{random.between(1, kJobs)};
    const auto began = SteadyClock::now();
    must(store.history(query));
    const std::chrono::duration<double, std::milli> took = SteadyClock::now() - began;
    milliseconds.push_back(took.count());
  }
  const double p99 = quantile(milliseconds, 0.99);
  fmt::print(
      "{{\"bench\":\"history\",\"case\":\"{}\",\"rows\":{},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},"
      "\"met\":{}}}\n",
      what, rows, quantile(milliseconds, 0.5), p99, p99 <= kPageP99Ms);
  std::fflush(stdout);
}

struct Lateness {
  double p50_ms = 0;
  double p99_ms = 0;
};

Lateness lateness_of(const ServerProcess& server, int round) {
  Sink sink;
  const ApiClient client(server.port(), "");
  const JobBatch batch{.prefix = fmt::format("late{}-", round),
                       .count = kSpread,
                       .sink_port = sink.port(),
                       .first_due = seconds_since_1970() + kLeadSeconds,
                       .seconds_apart = kSpreadSeconds / static_cast<double>(kSpread)};
  client.put_collections(batch);
  client.put_jobs(batch, 64);
  if (seconds_since_1970() > batch.first_due) {
    fmt::print(stderr, "history_bench: jobs were due before all of them were created\n");
    std::exit(1);
  }
  if (!sink.wait_for(kSpread, kWaitSeconds)) {
    fmt::print(stderr, "history_bench: only {} calls came\n", sink.take().count);
    std::exit(1);
  }
  const std::vector<double> late = sink.take().late_seconds;
  return {1000 * quantile(late, 0.5), 1000 * quantile(late, 0.99)};
}

Lateness median_of(const std::vector<Lateness>& rounds) {
  std::vector<double> p50;
  std::vector<double> p99;
  for (const Lateness& round : rounds) {
    p50.push_back(round.p50_ms);
    p99.push_back(round.p99_ms);
  }
  return {quantile(p50, 0.5), quantile(p99, 0.5)};
}

int run(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::int64_t rows = argc == 4 ? std::atoll(argv[3]) : kRowsDefault;
  const TemporaryDirectory directory("/var/tmp");
  const auto path = directory.path() / "filled";
  double before_mb = 0;
  {
    const auto store = must(SqliteStore::open({.directory = path}));
    fill(*store, rows);
    const HistoryQuery newest{.job = {}, .status = {}, .before = {}, .skip = 0, .limit = kPage};
    measure_pages(*store, "page of 100 rows of a job", newest, rows);
    HistoryQuery failed = newest;
    failed.status = HistoryStatus::failed;
    measure_pages(*store, "page of 100 failed rows of a job", failed, rows);
    before_mb = megabytes_in(path);
  }
  wait_for_disk();
  std::vector<Lateness> of_sweeping;
  std::vector<Lateness> of_empty;
  for (int round = 0; round < kRounds; ++round) {
    of_empty.push_back(lateness_of(ServerProcess(argv[1], directory.path() / "empty"), round));
    of_sweeping.push_back(lateness_of(ServerProcess(argv[1], path), round));
  }
  const Lateness swept = median_of(of_sweeping);
  const Lateness alone = median_of(of_empty);
  fmt::print(
      "{{\"bench\":\"history\",\"case\":\"lateness while old rows are removed\",\"rows\":{},"
      "\"disk_mb\":{:.0f},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},\"p50_ms_without\":{:.3f},"
      "\"p99_ms_without\":{:.3f},\"met\":{}}}\n",
      rows, before_mb, swept.p50_ms, swept.p99_ms, alone.p50_ms, alone.p99_ms,
      swept.p99_ms <= kLatenessGrowthMax * alone.p99_ms);
  return 0;
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  return belfry::run(argc, argv);
}
