// SPDX-License-Identifier: MIT
//
// Stores with very many jobs or rows, made quickly: through the store's own batches instead of
// over HTTP, so that what is in them is what a server would have written.

#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {

inline constexpr std::int64_t kFillBatch = 5'000;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().message);
    std::exit(1);
  }
  return *std::move(result);
}

// A job that POSTs to a sink on this machine, once.
inline Job one_time_job(std::int64_t id, Instant due, std::uint16_t sink_port) {
  Job job = sample_job(id, fmt::format("job-{:09}", id));
  HttpAction& call = std::get<HttpAction>(job.definition.edit().action.what);
  call.uri = fmt::format("http://127.0.0.1:{}/", sink_port);
  job.definition.edit().timing = {.start_time = due, .recurrence = std::nullopt};
  job.defined_at = due;
  job.covered_until = due - kOneTick;
  return waiting(std::move(job), due);
}

// Jobs from `first_id` on, each due `apart` after the one before it.
struct JobRange {
  std::int64_t first_id = 0;
  std::int64_t count = 0;
  Instant first_due;
  Ticks apart{};
  std::uint16_t sink_port = 0;
};

inline void add_jobs(Store& store, const JobRange& range) {
  for (std::int64_t done = 0; done < range.count; done += kFillBatch) {
    std::vector<Write> batch;
    for (std::int64_t i = done; i < std::min(done + kFillBatch, range.count); ++i) {
      batch.push_back(PutJob{
          one_time_job(range.first_id + i, range.first_due + i * range.apart, range.sink_port),
          kGenAbsent,
          {}});
    }
    must(store.commit(batch));
  }
}

// Rows of jobs 1 to `jobs`, which must exist, in turn; every tenth failed. They ended from
// `first_end` on, `apart` from one another.
struct RowRange {
  std::int64_t jobs = 0;
  std::int64_t count = 0;
  Instant first_end;
  Ticks apart{};
};

inline void add_rows(Store& store, const RowRange& range) {
  const std::string message(220, 'm');
  for (std::int64_t done = 0; done < range.count; done += kFillBatch) {
    AddHistory batch;
    for (std::int64_t i = done; i < std::min(done + kFillBatch, range.count); ++i) {
      HistoryEntry row =
          sample_history(1 + i % range.jobs, 1 + i / range.jobs,
                         i % 10 == 0 ? HistoryStatus::failed : HistoryStatus::completed);
      row.ended = range.first_end + i * range.apart;
      row.started = row.ended;
      row.message = message;
      batch.rows.push_back(std::move(row));
    }
    must(store.commit({std::move(batch)}));
  }
}

inline double megabytes_in(const std::filesystem::path& directory) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes / 1e6;
}

// Gigabytes that the kernel still has to write would be in the way of the server's first commits.
inline void wait_for_disk() {
  sync();
}

}  // namespace belfry
