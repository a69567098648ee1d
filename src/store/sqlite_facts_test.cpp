// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include "store/sqlite_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

Job in_state(std::int64_t id, JobState state) {
  Job job = sample_job(id, fmt::format("job{}", id));
  job.state = state;
  if (is_final(state)) job.ended = at(100);
  return job;
}

class SqliteFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open();
    ASSERT_TRUE(store_->commit({PutCollection{sample_collection()}}));
  }

  std::unique_ptr<SqliteStore> open() {
    auto opened = SqliteStore::open({.directory = scratch_.path()});
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }

  void put(const Job& job) { ASSERT_TRUE(store_->commit({PutJob{job, kGenAbsent, {}}})); }

  void put_five() {
    std::int64_t id = 0;
    for (const JobState state : {JobState::enabled, JobState::enabled, JobState::disabled,
                                 JobState::completed, JobState::faulted}) {
      put(in_state(++id, state));
    }
  }

  JobCounts counts() { return *store_->count_jobs_by_state(); }

  ScratchDirectory scratch_;
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(SqliteFactsTest, JobsAreCountedByState) {
  EXPECT_EQ(counts(), JobCounts{});
  put_five();
  EXPECT_EQ(counts(), (JobCounts{.enabled = 2, .disabled = 1, .completed = 1, .faulted = 1}));
}

TEST_F(SqliteFactsTest, CountsFollowAdvancesAndDeletes) {
  put_five();
  ASSERT_TRUE(store_->commit({AdvanceJob{in_state(1, JobState::completed), {}},
                              DeleteJob{JobId{3}, in_state(3, JobState::disabled).gen}}));
  EXPECT_EQ(counts(), (JobCounts{.enabled = 1, .disabled = 0, .completed = 2, .faulted = 1}));
  ASSERT_TRUE(store_->sweep({.history_before = at(0), .ended_before = at(200), .limit = 100}));
  EXPECT_EQ(counts(), (JobCounts{.enabled = 1}));
  ASSERT_TRUE(store_->commit({DeleteCollection{collection_key(), sample_collection().gen}}));
  EXPECT_EQ(counts(), JobCounts{});
}

TEST_F(SqliteFactsTest, TheEarliestThatWaitsIsKnown) {
  EXPECT_EQ(*store_->earliest_due(), std::nullopt);
  Job late = waiting(in_state(1, JobState::enabled), at(50));
  const Job later = waiting(in_state(2, JobState::enabled), at(70));
  put(late);
  put(later);
  EXPECT_EQ(*store_->earliest_due(), at(50));
  late.next->started = at(51);
  ASSERT_TRUE(store_->commit({AdvanceJob{late, {}}}));
  EXPECT_EQ(*store_->earliest_due(), at(70));
}

// Else a host without room would hide for how long its jobs have been due: each is put off again
// and again, and never has been due for long.
TEST_F(SqliteFactsTest, WhatIsPutOffHasBeenDueSinceItWasPlanned) {
  Job put_off = waiting(in_state(1, JobState::enabled), at(50));
  put(put_off);
  put(waiting(in_state(2, JobState::enabled), at(60)));
  put_off.next->due = at(90);
  ASSERT_TRUE(store_->commit({AdvanceJob{put_off, {}}}));
  EXPECT_EQ(*store_->earliest_due(), at(50));
  put_off.next->started = at(91);
  ASSERT_TRUE(store_->commit({AdvanceJob{put_off, {}}}));
  EXPECT_EQ(*store_->earliest_due(), at(60)) << "it has been begun";
}

TEST_F(SqliteFactsTest, OneThatIsPutOffIsKnownAlone) {
  Job put_off = waiting(in_state(1, JobState::enabled), at(50));
  put_off.next->due = at(90);
  put(put_off);
  EXPECT_EQ(*store_->earliest_due(), at(50));
}

// It was called on time, and is to be called again later.
TEST_F(SqliteFactsTest, ARetryIsDueWhenItIsDue) {
  Job retried = waiting(in_state(1, JobState::enabled), at(50));
  retried.next->due = at(90);
  retried.next->retry = 1;
  put(retried);
  EXPECT_EQ(*store_->earliest_due(), at(90));
  retried.next->retry = 0;
  retried.next->role = ActionRole::error;
  ASSERT_TRUE(store_->commit({AdvanceJob{retried, {}}}));
  EXPECT_EQ(*store_->earliest_due(), at(90));
}

TEST_F(SqliteFactsTest, TheSizeOfTheFilesIsKnown) {
  put_five();
  EXPECT_GT(store_->bytes().database + store_->bytes().log, 4096u);
}

}  // namespace
}  // namespace belfry
