// SPDX-License-Identifier: MIT
//
// The power fails at every operation of a sequence of writes, and the disk fails in every way
// it knows at every operation. Afterwards the store must hold exactly what it has answered for,
// and nothing half (docs/invariants.md, 3 and 5).

#include <gtest/gtest.h>

#include "store/lossy_vfs.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

constexpr int kSteps = 12;
constexpr int kNever = 1'000'000;
constexpr std::int64_t kIds = 8;
constexpr int kCheckpointPages = 8;  // so that many checkpoints fall into the sequence

using Batch = std::vector<Write>;

// Writes of all kinds to a few jobs, some of which are refused. Of each batch the audit log tells
// of the first.
class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed) {}

  std::vector<Batch> batches() {
    std::vector<Batch> out = {{PutCollection{sample_collection()}}};
    while (out.size() < kSteps) {
      Batch batch;
      for (auto writes = random_.between(1, 4); writes > 0; --writes) batch.push_back(write());
      AuditEntry entry;
      entry.request.resource = fmt::format("the first write of batch {}", out.size());
      batch.push_back(AppendAudit{entry, 0});
      out.push_back(batch);
    }
    return out;
  }

 private:
  Write write() {
    const std::int64_t id = random_.between(1, kIds);
    const std::int64_t seq = ++seq_;
    const std::string name = fmt::format("job{}", id);
    Job job = waiting(sample_job(id, name), at(random_.between(0, 1000)), seq);
    if (random_.one_in(2)) job = with_secret(job, fmt::format("secret {}", seq));
    switch (random_.below(8)) {
      case 0:
        return DeleteJob{job.id, 1};
      case 1:
        return AddHistory{{sample_history(id, seq), sample_history(id, seq - 5)}};
      case 2:
      case 3:
      case 4:
        return PutJob{job, kGenAbsent, {sample_history(id, seq)}};
      default:
        HistoryEntry row = sample_history(id, seq, HistoryStatus::failed);
        row.message = std::string(static_cast<std::size_t>(random_.between(1, 3000)), 'm');
        return AdvanceJob{job, {row}};
    }
  }

  Random random_;
  std::int64_t seq_ = 0;
};

// All that can be read of a store.
template <typename AnyStore>
std::string dump(AnyStore& store) {
  std::string out;
  if (const auto collection = store.collection(collection_key()).value()) {
    out += described(*collection) + '\n';
  }
  out += fmt::format("{} jobs\n", store.count_jobs(collection_key()).value());
  const auto jobs = store.jobs({collection_key(), {}, "", 0, 100}).value();
  for (const Job& job : jobs) {
    out += described(job) + ' ' + secrets_of(job.definition) + '\n';
  }
  const auto due = store.due({100}).value();
  for (const Job& job : due) out += fmt::format("due {}\n", static_cast<std::int64_t>(job.id));
  for (std::int64_t id = 1; id <= kIds; ++id) {
    const auto rows = store.history({JobId{id}, {}, {}, 0, 1000}).value();
    for (const HistoryEntry& row : rows) {
      out += fmt::format("history {} {} {}\n", id, row.occurrence.seq, row.message.size());
    }
  }
  const auto told = store.audit_rows({.scope = "", .limit = 1000}).value();
  for (const AuditRow& row : told) {
    out += fmt::format("audit {} {}\n", row.number, row.entry.request.resource);
  }
  return out;
}

std::string dump_after(const std::vector<Batch>& batches) {
  MemoryStore store;
  for (const Batch& batch : batches) EXPECT_TRUE(store.commit(batch));
  return dump(store);
}

// A store on a lossy disk; the lock and the key are on the real one, which is sound.
class Machine {
 public:
  Machine() : directory_(std::make_shared<ScratchDirectory>()), disk_(1), vfs_("made", disk_) {}

  // Begins with what the other one holds, which is stopped.
  Machine(const Machine& made, std::uint64_t seed)
      : directory_(made.directory_), disk_(seed), vfs_("lossy", disk_) {
    disk_.copy(made.disk_);
  }

  LossyDisk& disk() { return disk_; }
  SqliteStore* store() { return store_.get(); }

  // Whether it came up.
  bool start() {
    auto opened = SqliteStore::open({.directory = directory_->path() / "data",
                                     .vfs = vfs_.name(),
                                     .checkpoint_pages = kCheckpointPages,
                                     .checkpoints = Checkpoints::in_commits});
    if (opened) store_ = *std::move(opened);
    return opened.has_value();
  }

  void stop() { store_.reset(); }

  void lose_power(Survivors survivors) {
    disk_.cut_power();
    stop();
    disk_.restart(survivors);
  }

  // What is wrong with the files, as the next start finds them.
  std::string problems() {
    const auto path = database_path(directory_->path() / "data").native();
    auto db = Connection::open(path, OpenMode::create, vfs_.name());
    if (!db) return db.error().message;
    if ((*db)->value("SELECT count(*) FROM sqlite_schema") == 0) return "";
    std::string out;
    for (const std::string& problem : check_tables(**db)) out += problem + '\n';
    return out;
  }

 private:
  std::shared_ptr<ScratchDirectory> directory_;
  LossyDisk disk_;
  LossyVfs vfs_;
  std::unique_ptr<SqliteStore> store_;
};

enum class Database { made_now, made_before };

struct PowerLoss {
  const char* name;
  std::uint64_t seed;
  Survivors survivors;
  Database database;
};

class PowerLossTest : public testing::TestWithParam<PowerLoss> {
 protected:
  PowerLossTest() : batches_(Workload(GetParam().seed).batches()) {
    for (std::size_t n = 0; n <= batches_.size(); ++n) {
      dumps_.push_back(
          dump_after({batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(n)}));
    }
    if (GetParam().database == Database::made_before) made_.start();
    made_.stop();
    Machine machine(made_, 1);
    EXPECT_EQ(lose_power_at(kNever, machine), "finished");
    operations_ = machine.disk().operations();
  }

  // Loses the power at the given operation of the sequence, and starts again. Empty when all
  // that was answered is there, and the batch in flight is there whole or not at all.
  std::string lose_power_at(int operation, Machine& machine) {
    machine.disk().plan(DiskFault::power_loss, operation);
    std::size_t answered = 0;
    if (machine.start()) {
      while (answered < batches_.size() && machine.store()->commit(batches_[answered])) ++answered;
    }
    machine.stop();
    if (machine.disk().powered()) return "finished";
    machine.disk().restart(GetParam().survivors);
    if (const auto problems = machine.problems(); !problems.empty()) return problems;
    if (!machine.start()) return "does not start";
    const std::string found = dump(*machine.store());
    if (found == dumps_[answered]) return "";
    if (answered < batches_.size() && found == dumps_[answered + 1]) return "";
    return fmt::format("after {} answers it holds:\n{}instead of:\n{}", answered, found,
                       dumps_[answered]);
  }

  const std::vector<Batch> batches_;
  std::vector<std::string> dumps_;  // after so many batches
  Machine made_;
  int operations_ = 0;
};

TEST_P(PowerLossTest, AtAnyOperationLosesNothingThatWasAnswered) {
  for (int operation = 1; operation <= operations_; ++operation) {
    Machine machine(made_, static_cast<std::uint64_t>(operation));
    ASSERT_EQ(lose_power_at(operation, machine), "") << "power lost at operation " << operation;
  }
  EXPECT_GT(operations_, 100);
}

// A disk that lies stands for a store that does not sync: the test above would notice.
TEST_P(PowerLossTest, WouldBeNoticedIfTheStoreDidNotSync) {
  int noticed = 0;
  for (int operation = operations_ - 50; operation < operations_; operation += 5) {
    Machine machine(made_, static_cast<std::uint64_t>(operation));
    machine.disk().lie_about_syncs();
    if (!lose_power_at(operation, machine).empty()) ++noticed;
  }
  EXPECT_EQ(noticed >= 8, GetParam().survivors != Survivors::all);
}

INSTANTIATE_TEST_SUITE_P(
    Every, PowerLossTest,
    testing::Values(PowerLoss{"NothingSurvives", 1, Survivors::none, Database::made_now},
                    PowerLoss{"SomeSurvives", 2, Survivors::some, Database::made_now},
                    PowerLoss{"SomeOfAnotherSurvives", 3, Survivors::some, Database::made_before},
                    PowerLoss{"AllSurvives", 4, Survivors::all, Database::made_before}),
    [](const auto& tested) { return tested.param.name; });

struct FaultCase {
  const char* name;
  DiskFault fault;
  int lasting;  // operations
  int step;     // from one operation that fails to the next
};

class DiskFaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  void plan(Machine& machine, int operation) {
    machine.disk().plan(GetParam().fault, operation, GetParam().lasting);
  }

  // Commits, and finds out what came of it where the store could not tell.
  void commit(Machine& machine, const Batch& batch) {
    const auto results = machine.store()->commit(batch);
    if (results) applied_.push_back(batch);
    if (results) return;
    ++failed_;
    if (results.error().code == ErrorCode::unavailable) return;
    ASSERT_EQ(results.error().code, ErrorCode::unknown);
    revive(machine);
    const std::string found = dump(*machine.store());
    if (found == dump_after(applied_)) return;
    applied_.push_back(batch);
    ASSERT_EQ(found, dump_after(applied_));
  }

  // The fault has passed. A store whose sync failed says so to every call, and works once it
  // is opened again; any other goes on.
  void revive(Machine& machine) {
    machine.disk().plan(DiskFault::none, 0);
    if (machine.store()->due({1})) return;
    EXPECT_FALSE(machine.store()->commit({}));
    EXPECT_FALSE(machine.store()->count_jobs(collection_key()));
    ++broken_;
    machine.stop();
    ASSERT_TRUE(machine.start());
  }

  // How many operations there are to fail.
  int count_operations(const Machine& made, const std::vector<Batch>& batches) {
    Machine machine(made, 1);
    EXPECT_TRUE(machine.start());
    plan(machine, kNever);
    for (const Batch& batch : batches) EXPECT_TRUE(machine.store()->commit(batch));
    return machine.disk().operations();
  }

  int operations_of_a_start() {
    Machine machine;
    plan(machine, kNever);
    EXPECT_TRUE(machine.start());
    return machine.disk().operations();
  }

  void run(Machine& machine, const std::vector<Batch>& batches) {
    applied_.clear();
    for (const Batch& batch : batches) commit(machine, batch);
    revive(machine);
    // This one is answered, and everything before it stands.
    ASSERT_TRUE(machine.store()->commit(batches.front()));
    applied_.push_back(batches.front());
    ASSERT_EQ(dump(*machine.store()), dump_after(applied_));
    machine.lose_power(Survivors::none);
    ASSERT_EQ(machine.problems(), "");
    ASSERT_TRUE(machine.start());
    ASSERT_EQ(dump(*machine.store()), dump_after(applied_));
  }

  std::vector<Batch> applied_;
  int failed_ = 0;
  int broken_ = 0;
};

TEST_P(DiskFaultTest, AtAnyOperationIsToldTruthfullyAndPasses) {
  const auto batches = Workload(5).batches();
  Machine made;
  ASSERT_TRUE(made.start());
  made.stop();
  const int operations = count_operations(made, batches);
  for (int operation = 1; operation <= operations; operation += GetParam().step) {
    SCOPED_TRACE(fmt::format("fault at operation {}", operation));
    Machine machine(made, static_cast<std::uint64_t>(operation));
    ASSERT_TRUE(machine.start());
    plan(machine, operation);
    run(machine, batches);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(failed_, 0);
  EXPECT_EQ(GetParam().fault == DiskFault::error, broken_ > 0);
}

TEST_P(DiskFaultTest, WhileTheStoreOpensLeavesItToBeOpenedAgain) {
  const auto batches = Workload(6).batches();
  const int operations = operations_of_a_start();
  int refused = 0;
  for (int operation = 1; operation <= operations; ++operation) {
    SCOPED_TRACE(fmt::format("fault at operation {}", operation));
    Machine machine;
    plan(machine, operation);
    if (!machine.start()) ++refused;
    machine.lose_power(Survivors::some);
    ASSERT_TRUE(machine.start());
    ASSERT_TRUE(machine.store()->commit(batches[0]));
    EXPECT_EQ(dump(*machine.store()), dump_after({batches[0]}));
  }
  EXPECT_EQ(refused, operations);
}

INSTANTIATE_TEST_SUITE_P(Every, DiskFaultTest,
                         testing::Values(FaultCase{"Error", DiskFault::error, 1, 1},
                                         FaultCase{"ErrorsForAWhile", DiskFault::error, 20, 7},
                                         FaultCase{"Full", DiskFault::full, 1, 1},
                                         FaultCase{"FullForAWhile", DiskFault::full, 20, 7},
                                         FaultCase{"ShortWrite", DiskFault::short_write, 1, 1}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belfry
