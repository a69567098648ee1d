// SPDX-License-Identifier: MIT
//
// What every store promises (store/store.h) is one suite, StoreContract, which each of them
// runs: its writes are in store_contract_test.cpp, its reads in store_contract_reads_test.cpp.
// A new store is one more line in store_factories().

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {

// A store with what it needs to live.
struct StoreFixture {
  std::unique_ptr<ScratchDirectory> directory;
  std::unique_ptr<Store> store;
  TokenStore* tokens = nullptr;  // the same store's
  AuditLog* audit = nullptr;
};

template <typename AnyStore>
StoreFixture fixture_of(std::unique_ptr<ScratchDirectory> directory,
                        std::unique_ptr<AnyStore> store) {
  AnyStore* const same = store.get();
  return {std::move(directory), std::move(store), same, same};
}

struct StoreFactory {
  std::string name;
  std::function<StoreFixture()> make;
};

inline StoreFixture make_memory_store() {
  return fixture_of(nullptr, std::make_unique<MemoryStore>());
}

inline StoreFixture make_sqlite_store() {
  auto directory = std::make_unique<ScratchDirectory>();
  auto opened = SqliteStore::open({.directory = directory->path() / "data"});
  if (!opened) ADD_FAILURE() << opened.error().message;
  return fixture_of(std::move(directory), *std::move(opened));
}

inline std::vector<StoreFactory> store_factories() {
  return {{"Memory", make_memory_store}, {"Sqlite", make_sqlite_store}};
}

inline std::string factory_name(const testing::TestParamInfo<StoreFactory>& tested) {
  return tested.param.name;
}

inline constexpr auto kApplied = WriteResult::applied;
inline constexpr auto kRefused = WriteResult::refused;

// The value of an answer that must be one.
template <typename T>
T must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  return *std::move(result);
}

using Ids = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

inline Ids ids_of(const std::vector<Job>& jobs) {
  Ids out;
  for (const Job& job : jobs) out.push_back(static_cast<std::int64_t>(job.id));
  return out;
}

class StoreContract : public testing::TestWithParam<StoreFactory> {
 protected:
  StoreContract() : fixture_(GetParam().make()), store_(*fixture_.store) {}

  std::vector<WriteResult> commit(const std::vector<Write>& batch) {
    return must(store_.commit(batch));
  }

  WriteResult commit_one(Write write) { return commit({std::move(write)}).at(0); }

  // A collection with jobs 1 to `jobs`, named job1 and so on.
  void fill(std::int64_t jobs) {
    ASSERT_EQ(commit_one(PutCollection{sample_collection()}), kApplied);
    for (std::int64_t id = 1; id <= jobs; ++id) put(sample_job(id, fmt::format("job{}", id)));
  }

  void put(const Job& job) { ASSERT_EQ(commit_one(PutJob{job, kGenAbsent, {}}), kApplied); }

  std::optional<Job> job(const std::string& name) {
    return must(store_.job({collection_key(), name}));
  }

  Ids due(std::size_t limit) { return ids_of(must(store_.due({limit}))); }

  Names names(const JobQuery& query) {
    Names out;
    const auto jobs = must(store_.jobs(query));
    for (const Job& one : jobs) out.push_back(one.key->name);
    return out;
  }

  std::vector<HistoryEntry> history_of(std::int64_t id) {
    return must(
        store_.history({.job = JobId{id}, .status = {}, .before = {}, .skip = 0, .limit = 1000}));
  }

  Ids seqs(const HistoryQuery& query) {
    Ids out;
    const auto rows = must(store_.history(query));
    for (const HistoryEntry& row : rows) out.push_back(row.occurrence.seq);
    return out;
  }

  Ids seqs_of(std::int64_t id) {
    return seqs({.job = JobId{id}, .status = {}, .before = {}, .skip = 0, .limit = 1000});
  }

  // Sweeps in slices until nothing is left, as the engine does.
  void sweep_all(const SweepLimits& limits) {
    while (true) {
      const auto swept = must(store_.sweep(limits));
      ASSERT_LE(swept, limits.limit);
      if (swept == 0) return;
    }
  }

  StoreFixture fixture_;
  Store& store_;
};

}  // namespace belfry
