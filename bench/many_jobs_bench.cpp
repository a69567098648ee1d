// SPDX-License-Identifier: MIT
//
// What does a server cost that has very many jobs? Fills a store, starts `belfry serve` on it,
// and measures the time from its start to the first call at a sink, its memory, the disk, and
// what an execution costs then: nothing of it may grow with the number of jobs.
//
//   many_jobs_bench BELFRY [--jobs N]...    one JSON line per N

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/filled_store.h"
#include "bench/server_process.h"
#include "bench/sink.h"

namespace belfry {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kBacklog = 20'000;  // jobs that are due when the server starts
constexpr double kWaitSeconds = 300;
constexpr double kGrowthMax = 1.2;  // of the processor time of an execution, from the first N on

// What may be used, by number of jobs.
struct Allowed {
  std::int64_t jobs;
  double rss_mb;
  double first_firing_ms;
};
constexpr Allowed kAllowed[] = {{1'000'000, 150, 1'000}, {10'000'000, 250, 2'000}};

const Allowed& allowed_with(std::int64_t jobs) {
  return jobs <= kAllowed[0].jobs ? kAllowed[0] : kAllowed[1];
}

double seconds_since(SteadyClock::time_point began) {
  return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

// How many a second.
double fill(const std::filesystem::path& directory, std::int64_t jobs, std::uint16_t sink_port) {
  const auto store = must(SqliteStore::open({.directory = directory}));
  must(store->commit({PutCollection{sample_collection()}}));
  const Instant now = WallClock{}.now();
  add_jobs(*store, {1, kBacklog, now - std::chrono::seconds{10}, Ticks{0}, sink_port});
  const auto began = SteadyClock::now();
  const Instant later = now + std::chrono::hours{1};
  add_jobs(*store, {1 + kBacklog, jobs, later, std::chrono::days{30} / jobs, sink_port});
  return static_cast<double>(jobs) / seconds_since(began);
}

double sum_of(const std::map<std::string, double>& seconds_by_thread) {
  double sum = 0;
  for (const auto& [name, seconds] : seconds_by_thread) sum += seconds;
  return sum;
}

// Microseconds of processor time per execution; `fewest` is what it was with the first N, or 0.
double measure(const std::filesystem::path& binary, std::int64_t jobs, double fewest) {
  const TemporaryDirectory directory("/var/tmp");
  const auto store = directory.path() / "store";
  Sink sink;
  const double filled_per_second = fill(store, jobs, sink.port());
  wait_for_disk();
  const double disk_mb = megabytes_in(store);
  const double began = seconds_since_1970();
  const ServerProcess server(binary, store);
  if (!sink.wait_for(kBacklog, kWaitSeconds)) {
    fmt::print(stderr, "many_jobs_bench: only {} calls came\n", sink.take().count);
    std::exit(1);
  }
  const Arrivals arrivals = sink.take();
  const double each_us = 1e6 * sum_of(thread_seconds(server.id())) / kBacklog;
  const double first_ms = 1000 * (arrivals.first - began);
  const double rss_mb = resident_bytes(server.id()) / 1e6;
  const double growth = fewest == 0 ? 1 : each_us / fewest;
  const Allowed& allowed = allowed_with(jobs);
  fmt::print(
      "{{\"bench\":\"many jobs\",\"case\":\"{} waiting jobs\",\"rss_mb\":{:.0f},"
      "\"first_firing_ms\":{:.0f},\"disk_mb\":{:.0f},\"bytes_per_job\":{:.0f},"
      "\"executions_per_second\":{:.0f},\"cpu_us\":{:.1f},\"growth\":{:.2f},"
      "\"filled_per_second\":{:.0f},\"met\":{}}}\n",
      jobs, rss_mb, first_ms, disk_mb, 1e6 * disk_mb / static_cast<double>(jobs + kBacklog),
      kBacklog / (arrivals.last - arrivals.first), each_us, growth, filled_per_second,
      rss_mb <= allowed.rss_mb && first_ms <= allowed.first_firing_ms && growth <= kGrowthMax);
  std::fflush(stdout);
  return each_us;
}

int run(int argc, char** argv) {
  std::vector<std::int64_t> sizes;
  for (int i = 2; i + 1 < argc && std::string(argv[i]) == "--jobs"; i += 2) {
    sizes.push_back(std::max(std::atoll(argv[i + 1]), 1LL));
  }
  if (argc < 2) return 2;
  if (sizes.empty()) sizes = {1'000, 1'000'000};
  double fewest = 0;
  for (const std::int64_t jobs : sizes) {
    const double each = measure(argv[1], jobs, fewest);
    if (fewest == 0) fewest = each;
  }
  return 0;
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  return belfry::run(argc, argv);
}
