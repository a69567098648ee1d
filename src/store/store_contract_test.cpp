// SPDX-License-Identifier: MIT
//
// Every store: what a write does, and what it is refused for.

#include "store/store_contract.h"

namespace belfry {
namespace {

TEST_P(StoreContract, AnEmptyStoreAnswersEverythingWithNothing) {
  EXPECT_FALSE(must(store_.collection(collection_key())));
  EXPECT_FALSE(job("job1"));
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 0);
  EXPECT_EQ(must(store_.count_collections("sub-1", Sku::free)).all, 0);
  EXPECT_TRUE(due(10).empty());
  EXPECT_TRUE(must(store_.started(10)).empty());
  EXPECT_TRUE(seqs_of(1).empty());
  EXPECT_EQ(must(store_.sweep({at(0), at(0), 10})), 0u);
  EXPECT_TRUE(commit({}).empty());
}

TEST_P(StoreContract, ACollectionComesBackAsItWasPut) {
  ASSERT_EQ(commit_one(PutCollection{sample_collection()}), kApplied);
  const auto stored = must(store_.collection(collection_key()));
  ASSERT_TRUE(stored);
  EXPECT_EQ(described(*stored), described(sample_collection()));
}

TEST_P(StoreContract, ACollectionIsReplacedOnlyAtTheExpectedGen) {
  JobCollection collection = sample_collection();
  EXPECT_EQ(commit_one(PutCollection{collection, 1}), kRefused);
  EXPECT_EQ(commit_one(PutCollection{collection}), kApplied);
  EXPECT_EQ(commit_one(PutCollection{collection}), kRefused);
  collection.gen = 2;
  collection.state = CollectionState::disabled;
  collection.location = "Nord";
  collection.tags.clear();
  EXPECT_EQ(commit_one(PutCollection{collection, 7}), kRefused);
  EXPECT_EQ(commit_one(PutCollection{collection, 1}), kApplied);
  EXPECT_EQ(described(*must(store_.collection(collection_key()))), described(collection));
}

TEST_P(StoreContract, NamesAreComparedWithoutCaseAndKeepTheirFirstSpelling) {
  fill(1);
  JobCollection again = sample_collection({"SUB-1", "group-1", "BACKUPS"});
  EXPECT_EQ(commit_one(PutCollection{again}), kRefused);
  again.gen = 2;
  EXPECT_EQ(commit_one(PutCollection{again, 1}), kApplied);
  EXPECT_EQ(must(store_.collection(again.key))->key.name, "backups");

  EXPECT_EQ(commit_one(PutJob{sample_job(9, "JOB1", again.key), kGenAbsent, {}}), kRefused);
  Job job1 = sample_job(1, "JOB1", again.key);
  job1.gen = 2;
  EXPECT_EQ(commit_one(PutJob{job1, 1, {}}), kApplied);
  const auto stored = must(store_.job({again.key, "jOb1"}));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->key->name, "job1");
  EXPECT_EQ(stored->key->collection.subscription, "Sub-1");
  EXPECT_EQ(stored->gen, 2);
  const auto name = must(store_.job_name({again.key, "jOb1"}));
  ASSERT_TRUE(name);
  EXPECT_EQ(name->id, stored->id);
  EXPECT_EQ(name->key.name, "job1");
  EXPECT_EQ(name->key.collection.subscription, "Sub-1");
  EXPECT_FALSE(must(store_.job_name({again.key, "job11"})));
  EXPECT_FALSE(must(store_.job_name({collection_key("none"), "job1"})));
}

TEST_P(StoreContract, AJobComesBackAsItWasPut) {
  fill(0);
  Job job = sample_job(-77, "täglich-東京");
  job.definition.edit().error_action = job.definition->action;
  job.state = JobState::disabled;
  job.status = {.last_execution = at(5), .executions = 4, .failures = 3, .faults = 2};
  job.retry_interval_default = kRetryIntervalFree;
  job.defined_at = at(1) + kOneTick;
  job.last_seq = 12;
  job.ran = 11;
  job.covered_until = at(600);
  job.owed_until = at(700);
  job.ended = at(800);
  job.next = DueAttempt{.due = at(900),
                        .occurrence = {.scheduled_for = at(840), .seq = 12},
                        .origin = Origin::extra,
                        .role = ActionRole::error,
                        .retry = 3,
                        .started = at(901)};
  put(job);
  const auto stored = must(store_.job(job.key));
  ASSERT_TRUE(stored);
  EXPECT_EQ(described(*stored), described(job));
  EXPECT_EQ(stored->definition, job.definition);
}

// PATCH merges what is stored, so a secret must come back whole, and only with its own job.
TEST_P(StoreContract, SecretsComeBackWithTheirJob) {
  fill(0);
  put(with_secret(sample_job(1, "a"), "pässwörd \"1\""));
  put(with_secret(sample_job(2, "b"), "two"));
  put(sample_job(3, "c"));
  EXPECT_EQ(job("a")->definition, with_secret(sample_job(1, "a"), "pässwörd \"1\"").definition);
  EXPECT_EQ(job("b")->definition, with_secret(sample_job(2, "b"), "two").definition);
  Job without = sample_job(1, "a");
  without.gen = 2;
  EXPECT_EQ(commit_one(PutJob{without, 1, {}}), kApplied);
  EXPECT_EQ(job("a")->definition, without.definition);
}

TEST_P(StoreContract, AJobIsInsertedOnlyUnderAFreeNameWithAFreeIdInACollectionThatIsThere) {
  fill(1);
  EXPECT_EQ(commit_one(PutJob{sample_job(2, "job1"), kGenAbsent, {}}), kRefused);
  EXPECT_EQ(commit_one(PutJob{sample_job(1, "other"), kGenAbsent, {}}), kRefused);
  const Job lost = sample_job(2, "job2", collection_key("missing"));
  EXPECT_EQ(commit_one(PutJob{lost, kGenAbsent, {}}), kRefused);
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 1);
}

TEST_P(StoreContract, AJobIsReplacedOnlyAtTheExpectedGenUnderItsOwnName) {
  fill(2);
  Job changed = waiting(sample_job(1, "job1"), at(5));
  changed.gen = 2;
  std::get<HttpAction>(changed.definition.edit().action.what).method = "DELETE";
  EXPECT_EQ(commit_one(PutJob{changed, 3, {}}), kRefused);
  EXPECT_EQ(commit_one(PutJob{sample_job(8, "job8"), 1, {}}), kRefused);
  Job misnamed = changed;
  misnamed.key.edit().name = "job2";
  EXPECT_EQ(commit_one(PutJob{misnamed, 1, {}}), kRefused);
  EXPECT_EQ(described(*job("job1")), described(sample_job(1, "job1")));
  EXPECT_EQ(job("job1")->definition, sample_job(1, "job1").definition);
  EXPECT_EQ(commit_one(PutJob{changed, 1, {}}), kApplied);
  EXPECT_EQ(described(*job("job1")), described(changed));
  EXPECT_EQ(job("job1")->definition, changed.definition);
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 2);
}

TEST_P(StoreContract, AnAdvanceChangesProgressAndLeavesTheDefinition) {
  fill(1);
  Job advanced = waiting(sample_job(1, "job1"), at(60), 4);
  advanced.status.executions = 3;
  Job bare = advanced;
  bare.definition = JobDefinition{};
  EXPECT_EQ(commit_one(AdvanceJob{bare, {sample_history(1, 3)}}), kApplied);
  EXPECT_EQ(described(*job("job1")), described(advanced));
  EXPECT_EQ(job("job1")->definition, advanced.definition);
  EXPECT_EQ(seqs_of(1), Ids({3}));
}

// Otherwise an outcome learnt late would undo what a user has asked for since.
TEST_P(StoreContract, AnAdvanceOfAnotherGenIsRefusedWithItsRows) {
  fill(1);
  Job replaced = sample_job(1, "job1");
  replaced.gen = 2;
  ASSERT_EQ(commit_one(PutJob{replaced, 1, {}}), kApplied);
  Job late = waiting(sample_job(1, "job1"), at(60));
  EXPECT_EQ(commit_one(AdvanceJob{late, {sample_history(1, 1)}}), kRefused);
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(5, "job5"), {sample_history(5, 1)}}), kRefused);
  EXPECT_EQ(described(*job("job1")), described(replaced));
  EXPECT_TRUE(seqs_of(1).empty());
  EXPECT_TRUE(seqs_of(5).empty());
}

TEST_P(StoreContract, ADeletedJobIsGoneAndItsNameIsFree) {
  fill(2);
  ASSERT_EQ(commit_one(AddHistory{{sample_history(1, 1)}}), kApplied);
  EXPECT_EQ(commit_one(DeleteJob{JobId{1}, 2}), kRefused);
  EXPECT_EQ(commit_one(DeleteJob{JobId{7}, 1}), kRefused);
  EXPECT_EQ(commit_one(DeleteJob{JobId{1}, kGenAbsent}), kRefused);
  EXPECT_EQ(commit_one(DeleteJob{JobId{1}, 1}), kApplied);
  EXPECT_EQ(commit_one(DeleteJob{JobId{1}, 1}), kRefused);
  EXPECT_FALSE(job("job1"));
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 1);
  // The old history must not become the new job's.
  EXPECT_EQ(commit_one(PutJob{sample_job(1, "job1"), kGenAbsent, {}}), kRefused);
  EXPECT_EQ(commit_one(PutJob{sample_job(3, "job1"), kGenAbsent, {}}), kApplied);
  EXPECT_TRUE(seqs_of(3).empty());
}

// Whatever was put before in the same batch, and whichever ids are being swept.
TEST_P(StoreContract, AnIdIsNotFreeWhileItsHistoryIsBeingSwept) {
  fill(2);
  EXPECT_EQ(commit({PutJob{sample_job(3, "job3"), kGenAbsent, {}}, DeleteJob{JobId{2}, 1},
                    PutJob{sample_job(2, "again"), kGenAbsent, {}}}),
            (std::vector{kApplied, kApplied, kRefused}));
  ASSERT_EQ(commit_one(DeleteJob{JobId{3}, 1}), kApplied);
  // A smaller one that never was is free.
  EXPECT_EQ(commit({PutJob{sample_job(2, "again"), kGenAbsent, {}},
                    PutJob{sample_job(-5, "other"), kGenAbsent, {}}}),
            (std::vector{kRefused, kApplied}));
  EXPECT_EQ(
      commit({PutJob{sample_job(4, "job4"), kGenAbsent, {}}, DeleteCollection{collection_key(), 1},
              PutCollection{sample_collection()}, PutJob{sample_job(4, "job4"), kGenAbsent, {}}}),
      (std::vector{kApplied, kApplied, kApplied, kRefused}));
}

TEST_P(StoreContract, ADeletedCollectionTakesItsJobsAlong) {
  fill(3);
  ASSERT_EQ(commit_one(PutCollection{sample_collection(collection_key("other"))}), kApplied);
  put(waiting(sample_job(9, "job1", collection_key("other")), at(9)));
  ASSERT_EQ(commit_one(AdvanceJob{waiting(sample_job(2, "job2"), at(1)), {}}), kApplied);
  EXPECT_EQ(commit_one(DeleteCollection{collection_key(), 2}), kRefused);
  EXPECT_EQ(commit_one(DeleteCollection{collection_key("missing"), 1}), kRefused);
  EXPECT_EQ(commit_one(DeleteCollection{collection_key(), 1}), kApplied);
  EXPECT_FALSE(must(store_.collection(collection_key())));
  EXPECT_FALSE(job("job2"));
  EXPECT_EQ(due(10), Ids({9}));
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(2, "job2"), {}}), kRefused);
  // Made again, it is empty.
  EXPECT_EQ(commit_one(PutCollection{sample_collection()}), kApplied);
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 0);
  EXPECT_TRUE(
      names({.collection = collection_key(), .state = {}, .after = "", .limit = 9}).empty());
}

TEST_P(StoreContract, ARefusedWriteIsRefusedAlone) {
  fill(2);
  Job stale = waiting(sample_job(1, "job1"), at(1));
  stale.gen = 5;
  const Job fresh = waiting(sample_job(2, "job2"), at(2));
  EXPECT_EQ(
      commit({AdvanceJob{stale, {sample_history(1, 1)}}, AdvanceJob{fresh, {sample_history(2, 1)}},
              DeleteJob{JobId{4}, 1}, PutJob{sample_job(3, "job3"), kGenAbsent, {}}}),
      (std::vector{kRefused, kApplied, kRefused, kApplied}));
  EXPECT_EQ(due(10), Ids({2}));
  EXPECT_TRUE(seqs_of(1).empty());
  EXPECT_EQ(seqs_of(2), Ids({1}));
  EXPECT_TRUE(job("job3"));
}

// The engine relies on it: quotas count what the same batch has put before.
TEST_P(StoreContract, WritesOfABatchSeeEarlierOnes) {
  Job second = sample_job(1, "a");
  second.gen = 2;
  EXPECT_EQ(commit({PutCollection{sample_collection()},
                    PutJob{sample_job(1, "a"), kGenAbsent, {sample_history(1, 1)}},
                    PutJob{sample_job(2, "a"), kGenAbsent, {sample_history(2, 1)}},
                    PutJob{second, 1, {sample_history(1, 2)}}, DeleteJob{JobId{1}, 1},
                    DeleteJob{JobId{1}, 2}, PutJob{sample_job(2, "a"), kGenAbsent, {}}}),
            (std::vector{kApplied, kApplied, kRefused, kApplied, kRefused, kApplied, kApplied}));
  EXPECT_EQ(job("a")->id, JobId{2});
  EXPECT_TRUE(seqs_of(2).empty());
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 1);
}

// After a crash the same attempt is settled again: sent twice, recorded once.
TEST_P(StoreContract, HistoryThatIsThereStaysAsItIs) {
  fill(1);
  const HistoryEntry first = sample_history(1, 1);
  HistoryEntry again = first;
  again.status = HistoryStatus::failed;
  again.message = "another story";
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(1, "job1"), {first}}), kApplied);
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(1, "job1"), {again, sample_history(1, 2)}}), kApplied);
  const auto rows = history_of(1);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], first);
}

// A job was replaced while an attempt was on the wire: the note of that gives way to the report.
TEST_P(StoreContract, ARowThatIsAddedTakesThePlaceOfTheNote) {
  fill(1);
  const HistoryEntry note = sample_history(1, 1, HistoryStatus::failed);
  HistoryEntry report = note;
  report.status = HistoryStatus::completed;
  report.message = "it went well";
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(1, "job1"), {note}}), kApplied);
  EXPECT_EQ(commit_one(AddHistory{{report}}), kApplied);
  const auto rows = history_of(1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], report);
}

TEST_P(StoreContract, AHistoryRowComesBackAsItWasAdded) {
  fill(1);
  HistoryEntry row = sample_history(1, 5, HistoryStatus::postponed);
  row.role = ActionRole::error;
  row.retry = 20;
  row.repeat = 2147483647;
  row.message = std::string("line\nZeile\n行\n") + std::string(kHistoryMessageBytesMax - 14, 'x');
  row.gap = Gap{.last = at(999), .count = 12345};
  EXPECT_EQ(commit_one(AddHistory{{row}}), kApplied);
  const auto rows = history_of(1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], row);
}

TEST_P(StoreContract, HistoryOfAJobThatIsGoneIsLeftOut) {
  fill(1);
  EXPECT_EQ(commit_one(AddHistory{{sample_history(9, 1), sample_history(1, 1)}}), kApplied);
  EXPECT_TRUE(seqs_of(9).empty());
  EXPECT_EQ(seqs_of(1), Ids({1}));
}

INSTANTIATE_TEST_SUITE_P(Every, StoreContract, testing::ValuesIn(store_factories()), factory_name);

}  // namespace
}  // namespace belfry
