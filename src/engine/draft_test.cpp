// SPDX-License-Identifier: MIT

#include "engine/draft.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

// A store with one collection and its jobs 1 and 2, and a draft on top of it.
class DraftTest : public testing::Test {
 protected:
  DraftTest() {
    commit_all({PutCollection{sample_collection(), kGenAbsent},
                PutJob{waiting(sample_job(1, "one"), at(60)), kGenAbsent, {}},
                PutJob{waiting(sample_job(2, "two"), at(60)), kGenAbsent, {}}});
  }

  void commit_all(const std::vector<Write>& writes) {
    const auto results = *store_.commit(writes);
    for (const WriteResult result : results) EXPECT_EQ(result, WriteResult::applied);
  }
  void commit() { commit_all(draft_.take_writes().writes); }

  Job job(const std::string& name) { return **draft_.job({collection_key(), name}); }
  JobCollection collection() { return **draft_.collection(collection_key()); }
  std::optional<Job> stored(const std::string& name) {
    return *store_.job({collection_key(), name});
  }
  std::size_t rows_of(std::int64_t id) {
    HistoryQuery query;
    query.job = JobId{id};
    query.limit = 100;
    return store_.history(query)->size();
  }

  MemoryStore store_;
  Draft draft_{store_};
};

Job changed(Job job) {
  ++job.gen;
  std::get<HttpAction>(job.definition.edit().action.what).uri = "http://changed.test/";
  return job;
}

TEST_F(DraftTest, IsEmptyUntilItIsAskedForSomething) {
  EXPECT_TRUE(draft_.empty());
  EXPECT_EQ(job("one").id, JobId{1});
  EXPECT_TRUE(draft_.empty()) << "reading is not writing";
  EXPECT_TRUE(draft_.take_writes().writes.empty());
}

TEST_F(DraftTest, WhatIsPutIsReadBackBeforeItIsStored) {
  draft_.put(changed(job("one")), {});
  EXPECT_EQ(job("ONE").gen, 2) << "however it is spelt";
  EXPECT_EQ(stored("one")->gen, 1);
  commit();
  EXPECT_EQ(stored("one")->gen, 2);
}

TEST_F(DraftTest, AJobThatChangesTwiceIsWrittenOnceWithAllItsRows) {
  draft_.advance(waiting(*stored("one"), at(120), 2), {sample_history(1, 1)});
  draft_.put(changed(job("one")), {sample_history(1, 2)});
  const Draft::Keyed writes = draft_.take_writes();
  ASSERT_EQ(writes.writes.size(), 1u);
  EXPECT_EQ(writes.keys.at(0), folded(JobKey{collection_key(), "one"}));
  const auto& put = std::get<PutJob>(writes.writes[0]);
  EXPECT_EQ(put.expected_gen, 1);
  EXPECT_EQ(put.job.next->due, at(120));
  EXPECT_EQ(put.rows.size(), 2u);
}

TEST_F(DraftTest, WhatWasAdvancedIsKnownToWhoeverChangesItWithoutAsking) {
  draft_.advance(waiting(*stored("one"), at(120), 2), {sample_history(1, 1)});
  draft_.put(changed(*stored("one")), {sample_history(1, 2)});
  const Draft::Keyed writes = draft_.take_writes();
  ASSERT_EQ(writes.writes.size(), 1u);
  const auto& put = std::get<PutJob>(writes.writes[0]);
  EXPECT_EQ(put.expected_gen, 1);
  EXPECT_EQ(put.rows.size(), 2u);
}

TEST_F(DraftTest, AnAdvanceAfterAChangeIsPartOfIt) {
  draft_.put(changed(job("one")), {});
  draft_.advance(waiting(job("one"), at(120), 2), {sample_history(1, 1)});
  const Draft::Keyed writes = draft_.take_writes();
  ASSERT_EQ(writes.writes.size(), 1u);
  EXPECT_EQ(std::get<PutJob>(writes.writes[0]).job.next->due, at(120));
  EXPECT_EQ(std::get<PutJob>(writes.writes[0]).rows.size(), 1u);
}

TEST_F(DraftTest, JobsOfACollectionAreAsTheyWereAdvanced) {
  draft_.advance(waiting(*stored("two"), at(120), 2), {});
  const auto jobs = draft_.jobs_of(collection_key());
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ(jobs->at(1).next->due, at(120));
}

TEST_F(DraftTest, ACollectionGoesWithWhatWasAdvancedInIt) {
  draft_.advance(waiting(*stored("one"), at(120), 2), {});
  draft_.remove(collection());
  const Draft::Keyed writes = draft_.take_writes();
  ASSERT_EQ(writes.writes.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DeleteCollection>(writes.writes[0]));
}

TEST_F(DraftTest, AnAdvanceWritesNoDefinition) {
  draft_.advance(waiting(*stored("one"), at(120), 2), {});
  EXPECT_TRUE(std::holds_alternative<AdvanceJob>(draft_.take_writes().writes.at(0)));
}

TEST_F(DraftTest, AWriteStandsOnlyOnWhatWasRead) {
  const Job before = job("one");
  commit_all({PutJob{changed(before), before.gen, {}}});  // somebody else
  draft_.put(changed(before), {});
  EXPECT_EQ(store_.commit(draft_.take_writes().writes)->at(0), WriteResult::refused);
}

TEST_F(DraftTest, ARemovedJobIsGoneForLaterReaders) {
  draft_.remove(job("one"));
  EXPECT_FALSE(*draft_.job({collection_key(), "one"}));
  EXPECT_EQ(*draft_.count_jobs(collection_key()), 1);
  EXPECT_EQ(draft_.jobs_of(collection_key())->size(), 1u);
  EXPECT_TRUE(draft_.touched(*stored("one")));
  EXPECT_FALSE(draft_.touched(*stored("two")));
  EXPECT_EQ(draft_.removed_jobs(), std::vector<JobId>{JobId{1}});
  commit();
  EXPECT_FALSE(stored("one"));
}

TEST_F(DraftTest, RowsOfAJobThatIsRemovedInTheSameStepAreNotWritten) {
  draft_.advance(*stored("one"), {sample_history(1, 1)});
  draft_.remove(job("one"));
  const auto writes = draft_.take_writes().writes;
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DeleteJob>(writes[0]));
}

TEST_F(DraftTest, ANameThatIsTakenAgainInTheSameStepIsAnotherJob) {
  draft_.remove(job("one"));
  draft_.put(sample_job(9, "one"), {});
  EXPECT_EQ(*draft_.count_jobs(collection_key()), 2);
  commit();
  EXPECT_EQ(stored("one")->id, JobId{9});
}

TEST_F(DraftTest, WhatWasPutAndRemovedLeavesNoWriteButWasAsked) {
  draft_.put(sample_job(9, "new"), {});
  EXPECT_EQ(*draft_.count_jobs(collection_key()), 3);
  draft_.remove(job("new"));
  EXPECT_FALSE(draft_.empty());
  EXPECT_TRUE(draft_.take_writes().writes.empty());
}

TEST_F(DraftTest, ARemovedCollectionTakesItsJobsWithIt) {
  draft_.put(changed(job("one")), {sample_history(1, 1)});
  draft_.remove(collection());
  EXPECT_FALSE(*draft_.collection(collection_key()));
  EXPECT_FALSE(*draft_.job({collection_key(), "one"}));
  EXPECT_TRUE(draft_.jobs_of(collection_key())->empty());
  EXPECT_EQ(*draft_.count_jobs(collection_key()), 0);
  EXPECT_TRUE(draft_.touched(*stored("two"))) << "what was not even read is gone with it";
  commit();
  EXPECT_FALSE(stored("one"));
  EXPECT_EQ(rows_of(1), 0u);
}

TEST_F(DraftTest, ACollectionThatIsMadeAgainHasNoneOfTheOldJobs) {
  draft_.remove(collection());
  draft_.put(sample_collection());
  EXPECT_FALSE(*draft_.job({collection_key(), "one"}));
  draft_.put(sample_job(9, "one"), {});
  EXPECT_EQ(draft_.jobs_of(collection_key())->size(), 1u);
  commit();
  EXPECT_EQ(stored("one")->id, JobId{9});
  EXPECT_FALSE(stored("two"));
}

TEST_F(DraftTest, CollectionsOfTheStepCount) {
  const std::string subscription = collection_key().subscription;
  draft_.put(sample_collection(collection_key("second")));
  EXPECT_EQ(draft_.count_collections(subscription, Sku::p10_premium)->of_sku, 2);
  JobCollection other = collection();
  other.sku = Sku::standard;
  draft_.put(other);
  const SkuCounts counts = *draft_.count_collections("SUB-1", Sku::p10_premium);
  EXPECT_EQ(counts.of_sku, 1);
  EXPECT_EQ(counts.all, 2);
  draft_.remove(other);
  EXPECT_EQ(draft_.count_collections(subscription, Sku::standard)->all, 1);
  EXPECT_EQ(draft_.count_collections("another", Sku::standard)->all, 0);
}

TEST_F(DraftTest, ListsTheJobsOfACollectionPageByPageEachOnce) {
  std::vector<Write> many;
  for (int i = 0; i < 2'500; ++i) {
    many.push_back(PutJob{sample_job(100 + i, fmt::format("job{}", i)), kGenAbsent, {}});
  }
  commit_all(many);
  draft_.put(changed(job("job7")), {});
  draft_.remove(job("job8"));
  EXPECT_EQ(draft_.jobs_of(collection_key())->size(), 2'501u);
}

TEST_F(DraftTest, RowsThatLeadToNothingAreWrittenLast) {
  draft_.add_rows({sample_history(1, 1)});
  draft_.advance(*stored("one"), {});
  const auto writes = draft_.take_writes().writes;
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<AddHistory>(writes[1]));
}

}  // namespace
}  // namespace belfry
