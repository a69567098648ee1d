// SPDX-License-Identifier: MIT
//
// What the SQLite store does in a second on a real disk. Each line printed is one measurement.
//
//   store_bench [DIRECTORY] [HISTORY_ROWS] [JOBS]
//
// DIRECTORY (default: a new one in the current folder, removed afterwards) must be on the disk
// that is to be measured. An execution is what a firing costs when it is settled: the job's
// advance and one history row of about 300 bytes; a firing costs a mark "started" before.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kHistoryRowsDefault = 1'000'000;
constexpr std::int64_t kJobsDefault = 100'000;
constexpr std::int64_t kListedJobs = 1'000;
constexpr std::size_t kFillBatch = 5'000;
constexpr std::size_t kMessageBytes = 220;
constexpr std::size_t kPage = 100;
constexpr auto kMeasureFor = std::chrono::seconds(5);

// What this process has used: on a machine that others use too, it says more than the time.
struct Usage {
  double cpu_seconds = 0;
  double written_bytes = 0;
};

Usage used() {
  rusage cpu{};
  getrusage(RUSAGE_SELF, &cpu);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Usage out{seconds(cpu.ru_utime) + seconds(cpu.ru_stime), 0};
  std::ifstream io("/proc/self/io");
  for (std::string name; io >> name;) {
    double value = 0;
    io >> value;
    if (name == "wchar:") out.written_bytes = value;
  }
  return out;
}

double seconds_since(SteadyClock::time_point began) {
  return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

struct Measured {
  std::string name;
  std::size_t each = 1;  // things done by a call
  Usage before = used();
  std::vector<double> seconds = {};  // of each call
};

double percentile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void print(Measured measured) {
  const Usage after = used();
  double total = 0;
  for (const double one : measured.seconds) total += one;
  std::ranges::sort(measured.seconds);
  const double things = static_cast<double>(measured.seconds.size() * measured.each);
  fmt::print(
      "{{\"bench\":\"store\",\"case\":\"{}\",\"per_second\":{:.0f},\"cpu_us\":{:.1f},"
      "\"written_bytes\":{:.0f},\"calls\":{},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},"
      "\"max_ms\":{:.3f}}}\n",
      measured.name, things / total,
      1e6 * (after.cpu_seconds - measured.before.cpu_seconds) / things,
      (after.written_bytes - measured.before.written_bytes) / things, measured.seconds.size(),
      1e3 * percentile(measured.seconds, 0.5), 1e3 * percentile(measured.seconds, 0.99),
      1e3 * measured.seconds.back());
  std::fflush(stdout);
}

// Calls again and again; a call says how long the store took of it.
template <typename Call>
void measure(const std::string& name, std::size_t each, Call call) {
  Measured measured{.name = name, .each = each};
  const auto began = SteadyClock::now();
  while (SteadyClock::now() - began < kMeasureFor) measured.seconds.push_back(call());
  print(std::move(measured));
}

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "store_bench: {}\n", result.error().message);
    std::exit(1);
  }
  return *std::move(result);
}

template <typename Call>
double timed(Call call) {
  const auto began = SteadyClock::now();
  must(call());
  return seconds_since(began);
}

// Jobs that are due together come by id, as they do when they are due at the same instant, or
// from anywhere in the tables, as they do when each has an instant of its own.
enum class Order { by_id, scattered };

// Stands for the engine: fires jobs and settles them, always with the next seq of the job.
class Load {
 public:
  Load(SqliteStore& store, std::int64_t jobs)
      : store_(store), seqs_(static_cast<std::size_t>(jobs), 0), random_(7) {
    for (std::int64_t id = 0; id < jobs; ++id) order_.push_back(id);
  }

  void set(Order order) {
    std::ranges::sort(order_);
    for (std::size_t i = order_.size(); order == Order::scattered && i > 1; --i) {
      std::swap(order_[i - 1], order_[random_.below(i)]);
    }
  }

  std::int64_t jobs() const { return static_cast<std::int64_t>(seqs_.size()); }

  void create_jobs() {
    must(store_.commit({PutCollection{sample_collection()},
                        PutCollection{sample_collection(collection_key("small"))}}));
    Measured measured{.name = "create jobs, batches of 100", .each = kPage};
    for (std::int64_t id = 0; id < jobs();) {
      std::vector<Write> batch;
      for (std::size_t i = 0; i < kPage && id < jobs(); ++i, ++id) {
        batch.push_back(PutJob{new_job(id), kGenAbsent, {}});
      }
      measured.seconds.push_back(timed([&] { return store_.commit(batch); }));
    }
    print(std::move(measured));
  }

  std::int64_t any_job() {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(jobs())));
  }

  double settle(std::size_t count, HistoryStatus status = HistoryStatus::completed) {
    std::vector<Write> batch;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = earliest_job();
      const std::int64_t seq = ++seqs_[static_cast<std::size_t>(id)];
      HistoryEntry row = sample_history(id, seq, status);
      row.message.resize(kMessageBytes, '.');
      ++now_;
      batch.push_back(AdvanceJob{progress(id, seq), {row}});
    }
    return timed([&] { return store_.commit(batch); });
  }

  double start(std::size_t count) {
    std::vector<Write> batch;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = order_[(turn_ + i) % order_.size()];
      Job job = progress(id, seqs_[static_cast<std::size_t>(id)]);
      job.next->started = at(now_);
      batch.push_back(AdvanceJob{job, {}});
    }
    return timed([&] { return store_.commit(batch); });
  }

 private:
  std::int64_t earliest_job() { return order_[turn_++ % order_.size()]; }

  static Job new_job(std::int64_t id) {
    const auto key = id < kListedJobs ? collection_key("small") : collection_key();
    Job job = sample_job(id, fmt::format("job-{:08}", id), key);
    std::get<HttpAction>(job.definition.edit().action.what).body->resize(400, '.');
    return waiting(id % 10 == 0 ? with_secret(job, "a secret of some length") : job, at(id));
  }

  Job progress(std::int64_t id, std::int64_t seq) const {
    Job job;
    job.id = JobId{id};
    job.gen = 1;
    job.status = {.last_execution = at(now_), .executions = seq, .failures = 0, .faults = 0};
    job.ran = seq;
    job.covered_until = at(now_);
    job.defined_at = at(0);
    return waiting(job, at(now_ + jobs()), seq + 1);
  }

  SqliteStore& store_;
  std::vector<std::int64_t> seqs_;
  Random random_;
  std::vector<std::int64_t> order_;
  std::size_t turn_ = 0;
  std::int64_t now_ = 0;
};

void fill_history(Load& load, std::int64_t rows) {
  Measured measured{.name = fmt::format("fill {} rows of history", rows), .each = kFillBatch};
  for (std::int64_t done = 0; done < rows; done += static_cast<std::int64_t>(kFillBatch)) {
    measured.seconds.push_back(
        load.settle(kFillBatch, done % 10 == 0 ? HistoryStatus::failed : HistoryStatus::completed));
  }
  print(std::move(measured));
}

void measure_writes(Load& load, Order order) {
  load.set(order);
  const std::string how = order == Order::by_id ? "by id" : "scattered";
  for (const std::size_t batch : {1, 10, 100, 1000}) {
    measure(fmt::format("settle {}, batches of {}", how, batch), batch,
            [&] { return load.settle(batch); });
  }
  measure(fmt::format("start and settle {}, batches of 1000", how), 1000,
          [&] { return load.start(1000) + load.settle(1000); });
}

void measure_reads(SqliteStore& store, Load& load) {
  HistoryQuery query{.job = {}, .status = {}, .before = {}, .skip = 0, .limit = kPage};
  const auto page = [&] {
    query.job = JobId{load.any_job()};
    return timed([&] { return store.history(query); });
  };
  measure("page of 100 of a job's history", 1, page);
  query.status = HistoryStatus::failed;
  measure("page of 100 failed of a job's history", 1, page);
  query.status = HistoryStatus::completed;
  measure("page of 100 completed of a job's history", 1, page);
  measure("list 1000 jobs of a collection", 1, [&] {
    const JobQuery all{collection_key("small"), {}, "", 0, 1000};
    return timed([&] { return store.jobs(all); });
  });
  measure("get a job", 1, [&] {
    const JobKey key{collection_key(), fmt::format("job-{:08}", load.any_job())};
    return timed([&] { return store.job(key); });
  });
  measure("due(1000)", 1, [&] { return timed([&] { return store.due({1000}); }); });
}

std::int64_t number(int argc, char** argv, int index, std::int64_t otherwise) {
  return argc > index ? std::strtoll(argv[index], nullptr, 10) : otherwise;
}

int run(int argc, char** argv) {
  const std::filesystem::path directory =
      argc > 1 ? argv[1] : fmt::format("store-bench-{}", Random::from_entropy().next());
  {
    const auto store = must(SqliteStore::open({.directory = directory}));
    Load load(*store, number(argc, argv, 3, kJobsDefault));
    load.create_jobs();
    measure_writes(load, Order::by_id);
    measure_writes(load, Order::scattered);
    fill_history(load, number(argc, argv, 2, kHistoryRowsDefault));
    measure("settle scattered after that, batches of 1000", 1000,
            [&] { return load.settle(1000); });
    measure_reads(*store, load);
  }
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  return belfry::run(argc, argv);
}
