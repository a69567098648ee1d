// SPDX-License-Identifier: MIT
//
// Every store: orders, pages, filters and counts, and what a sweep leaves.

#include "store/store_contract.h"

namespace belfry {
namespace {

TEST_P(StoreContract, HistoryComesNewestFirstByOccurrenceThenRoleThenRetry) {
  fill(2);
  std::vector<HistoryEntry> rows;
  for (const auto& [seq, role, retry] : {std::tuple{2, ActionRole::error, 0},
                                         {1, ActionRole::main, 0},
                                         {2, ActionRole::main, 1},
                                         {300, ActionRole::main, 0},
                                         {2, ActionRole::main, 0},
                                         {2, ActionRole::error, 10}}) {
    HistoryEntry row = sample_history(1, seq);
    row.role = role;
    row.retry = retry;
    rows.push_back(row);
  }
  rows.push_back(sample_history(2, 5));
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  std::string order;
  const auto stored = history_of(1);
  for (const auto& row : stored) {
    order += fmt::format("{}{}{} ", row.occurrence.seq, row.role == ActionRole::main ? 'm' : 'e',
                         row.retry);
  }
  EXPECT_EQ(order, "300m0 2e10 2e0 2m1 2m0 1m0 ");
}

TEST_P(StoreContract, HistoryIsPagedByPlaceAndBySkip) {
  fill(1);
  std::vector<HistoryEntry> rows;
  for (int seq = 1; seq <= 10; ++seq) rows.push_back(sample_history(1, seq));
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  HistoryQuery query{.job = JobId{1}, .status = {}, .before = {}, .skip = 0, .limit = 4};
  EXPECT_EQ(seqs(query), Ids({10, 9, 8, 7}));
  query.before = HistoryPlace{.seq = 7, .role = ActionRole::main, .retry = 0};
  EXPECT_EQ(seqs(query), Ids({6, 5, 4, 3}));
  query.skip = 3;
  EXPECT_EQ(seqs(query), Ids({3, 2, 1}));
  query.skip = 30;
  EXPECT_TRUE(seqs(query).empty());
  query.skip = 0;
  query.limit = 0;
  EXPECT_TRUE(seqs(query).empty());
  // Between two rows: the place itself need not be there.
  query = {.job = JobId{1}, .status = {}, .before = {}, .skip = 0, .limit = 1};
  query.before = HistoryPlace{.seq = 7, .role = ActionRole::main, .retry = 1};
  EXPECT_EQ(seqs(query), Ids({7}));
}

TEST_P(StoreContract, HistoryIsFilteredByStatusBeforeItIsPaged) {
  fill(2);
  std::vector<HistoryEntry> rows;
  for (int seq = 1; seq <= 12; ++seq) {
    rows.push_back(sample_history(1, seq, static_cast<HistoryStatus>(seq % 3)));
  }
  rows.push_back(sample_history(2, 99, HistoryStatus::failed));
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  HistoryQuery query{.job = JobId{1}, .status = HistoryStatus::completed, .before = {}, .limit = 9};
  EXPECT_EQ(seqs(query), Ids({12, 9, 6, 3}));
  query.status = HistoryStatus::failed;
  EXPECT_EQ(seqs(query), Ids({10, 7, 4, 1}));
  query.status = HistoryStatus::postponed;
  EXPECT_EQ(seqs(query), Ids({11, 8, 5, 2}));
  query.skip = 1;
  query.limit = 2;
  EXPECT_EQ(seqs(query), Ids({8, 5}));
  query.status = HistoryStatus::completed;
  query.before = HistoryPlace{.seq = 12, .role = ActionRole::main, .retry = 0};
  EXPECT_EQ(seqs(query), Ids({6, 3}));
}

TEST_P(StoreContract, DueGivesTheEarliestThatWaitInOrder) {
  fill(0);
  const std::int64_t seconds[] = {50, 10, 40, 10, -100};
  for (std::int64_t id = 5; id >= 1; --id) {
    put(waiting(sample_job(id, fmt::format("j{}", id)), at(seconds[id - 1])));
  }
  put(sample_job(6, "idle"));
  EXPECT_EQ(due(10), Ids({5, 2, 4, 3, 1}));
  EXPECT_EQ(due(2), Ids({5, 2}));
  EXPECT_TRUE(due(0).empty());
  const auto first = must(store_.due({1}));
  EXPECT_EQ(described(first.at(0)), described(*job("j5")));
  EXPECT_EQ(first.at(0).definition, job("j5")->definition);

  Job later = waiting(sample_job(5, "j5"), at(45));
  EXPECT_EQ(commit_one(AdvanceJob{later, {}}), kApplied);
  EXPECT_EQ(due(10), Ids({2, 4, 3, 5, 1}));
  EXPECT_EQ(commit_one(AdvanceJob{sample_job(2, "j2"), {}}), kApplied);
  EXPECT_EQ(commit_one(DeleteJob{JobId{4}, 1}), kApplied);
  EXPECT_EQ(due(10), Ids({3, 5, 1}));
}

// One subscription's crowd can be left aside, and looked at by itself.
TEST_P(StoreContract, DueTellsSubscriptionsApart) {
  std::int64_t id = 0;
  for (const char* subscription : {"a", "A-b", "ab", "c"}) {
    const CollectionKey key{.subscription = subscription, .resource_group = "g", .name = "n"};
    ASSERT_EQ(commit_one(PutCollection{sample_collection(key)}), kApplied);
    put(waiting(sample_job(id + 1, "first", key), at(10)));
    put(waiting(sample_job(id + 2, "second", key), at(20)));
    id += 2;
  }
  const auto of = [this](DueQuery query) { return ids_of(must(store_.due(query))); };
  EXPECT_EQ(of({9, {"a"}, DueOf::others}), Ids({3, 5, 7, 4, 6, 8}));
  EXPECT_EQ(of({9, {"a"}, DueOf::them}), Ids({1, 2}));
  EXPECT_EQ(of({9, {"c", "a-b"}, DueOf::them}), Ids({3, 7, 4, 8}));
  EXPECT_EQ(of({9, {"c", "a-b"}, DueOf::others}), Ids({1, 5, 2, 6}));
  EXPECT_EQ(of({1, {"c", "a-b"}, DueOf::others}), Ids({1}));
  EXPECT_EQ(of({9, {"nobody"}, DueOf::them}), Ids({}));
  EXPECT_EQ(of({9, {"a"}, DueOf::others, {at(10)}, at(20)}), Ids({3, 5, 7}));
  EXPECT_EQ(of({9, {"a"}, DueOf::others, {at(11)}, at(21)}), Ids({4, 6, 8}));
  EXPECT_EQ(of({9, {"a"}, DueOf::them, {at(10)}, at(21)}), Ids({1, 2}));
  EXPECT_EQ(of({9, {}, DueOf::others, {at(10)}, at(20)}), Ids({1, 3, 5, 7}));
  EXPECT_EQ(of({9, {}, DueOf::others, {at(20)}, at(21)}), Ids({2, 4, 6, 8}));
  EXPECT_EQ(of({9, {}, DueOf::them}), Ids({}));
  EXPECT_EQ(of({9, {}, DueOf::others}).size(), 8u);
}

// Thousands may be due in one instant: whoever has seen some goes on behind them.
TEST_P(StoreContract, DueGoesOnFromAPlace) {
  fill(0);
  for (std::int64_t id = 1; id <= 4; ++id) {
    put(waiting(sample_job(id, fmt::format("j{}", id)), at(10)));
  }
  put(waiting(sample_job(5, "earlier"), at(9)));
  put(waiting(sample_job(6, "later"), at(11)));
  const std::string mine = folded(collection_key().subscription);
  for (const DueOf of : {DueOf::others, DueOf::them}) {
    const std::string named = of == DueOf::them ? mine : "nobody";
    const auto from = [&](DuePlace place, std::size_t limit, Instant before) {
      return ids_of(must(store_.due({limit, {named}, of, place, before})));
    };
    EXPECT_EQ(from({at(10), JobId{3}}, 9, at(99)), Ids({3, 4, 6}));
    EXPECT_EQ(from({at(10), JobId{3}}, 2, at(99)), Ids({3, 4}));
    EXPECT_EQ(from({at(10), JobId{3}}, 1, at(99)), Ids({3}));
    EXPECT_EQ(from({at(10), JobId{3}}, 9, at(11)), Ids({3, 4}));
    EXPECT_EQ(from({at(10), JobId{5}}, 9, at(99)), Ids({6}));
    EXPECT_EQ(from({at(9), JobId{}}, 3, at(99)), Ids({5, 1, 2}));
  }
  EXPECT_EQ(ids_of(must(store_.due({.limit = 9, .from = {at(10), JobId{4}}}))), Ids({4, 6}));
}

// Whatever it is asked by, and until it is known what comes next.
TEST_P(StoreContract, AJobThatWasBegunIsStarted) {
  fill(0);
  Job begun = waiting(sample_job(1, "a"), at(10));
  put(begun);
  begun.next->started = at(11);
  begun.covered_until = at(10);
  EXPECT_EQ(commit_one(AdvanceJob{begun, {}, Advance::begun}), kApplied);
  EXPECT_TRUE(due(10).empty());
  EXPECT_EQ(described(*job("a")), described(begun));
  EXPECT_EQ(described(must(store_.started(10)).at(0)), described(begun));
  JobQuery all;
  all.collection = collection_key();
  all.limit = 9;
  EXPECT_EQ(described(must(store_.jobs(all)).at(0)), described(begun));

  Job settled = waiting(sample_job(1, "a"), at(70), 2);
  settled.covered_until = at(60);
  EXPECT_EQ(commit_one(AdvanceJob{settled, {}}), kApplied);
  EXPECT_TRUE(must(store_.started(10)).empty());
  EXPECT_EQ(described(*job("a")), described(settled));
}

TEST_P(StoreContract, AJobOfAnotherGenIsNotBegun) {
  fill(0);
  put(waiting(sample_job(1, "a"), at(10)));
  Job begun = *job("a");
  begun.next->started = at(11);
  ++begun.gen;
  EXPECT_EQ(commit_one(AdvanceJob{begun, {}, Advance::begun}), kRefused);
  begun.id = JobId{2};
  EXPECT_EQ(commit_one(AdvanceJob{begun, {}, Advance::begun}), kRefused);
  EXPECT_TRUE(must(store_.started(10)).empty());
}

// An id may come again, and must not be started then.
TEST_P(StoreContract, WhatIsRemovedIsNotStartedAnyMore) {
  const auto begin = [this](std::int64_t id) {
    Job begun = waiting(sample_job(id, fmt::format("j{}", id)), at(10));
    put(begun);
    begun.next->started = at(11);
    ASSERT_EQ(commit_one(AdvanceJob{begun, {}, Advance::begun}), kApplied);
  };
  fill(0);
  begin(1);
  begin(2);
  EXPECT_EQ(commit_one(DeleteJob{JobId{1}, 1}), kApplied);
  EXPECT_EQ(ids_of(must(store_.started(10))), Ids({2}));
  EXPECT_EQ(commit_one(DeleteCollection{collection_key(), 1}), kApplied);
  EXPECT_TRUE(must(store_.started(10)).empty());
  fill(0);
  sweep_all({.history_before = at(0), .ended_before = at(0), .limit = 100});
  put(waiting(sample_job(1, "j1"), at(10)));
  put(waiting(sample_job(2, "j2"), at(10)));
  EXPECT_EQ(due(10), Ids({1, 2}));
}

TEST_P(StoreContract, AJobThatIsReplacedWhileItIsOnItsWayWaitsAgain) {
  fill(0);
  Job begun = waiting(sample_job(1, "a"), at(10));
  put(begun);
  begun.next->started = at(11);
  ASSERT_EQ(commit_one(AdvanceJob{begun, {}, Advance::begun}), kApplied);
  Job other = waiting(sample_job(1, "a"), at(30), 2);
  other.gen = 2;
  EXPECT_EQ(commit_one(PutJob{other, 1, {}}), kApplied);
  EXPECT_TRUE(must(store_.started(10)).empty());
  EXPECT_EQ(due(10), Ids({1}));
}

TEST_P(StoreContract, AStartedJobIsNoLongerDueButStarted) {
  fill(0);
  Job job1 = waiting(sample_job(1, "a"), at(10));
  put(job1);
  put(waiting(sample_job(2, "b"), at(20)));
  job1.next->started = at(11);
  EXPECT_EQ(commit_one(AdvanceJob{job1, {}}), kApplied);
  EXPECT_EQ(due(10), Ids({2}));
  const auto started = must(store_.started(10));
  EXPECT_EQ(ids_of(started), Ids({1}));
  EXPECT_EQ(described(started.at(0)), described(job1));
  EXPECT_TRUE(must(store_.started(0)).empty());
  job1 = waiting(sample_job(1, "a"), at(30), 2);
  EXPECT_EQ(commit_one(AdvanceJob{job1, {}}), kApplied);
  EXPECT_EQ(due(10), Ids({2, 1}));
  EXPECT_TRUE(must(store_.started(10)).empty());
}

// Or it would be begun, or sent again after a restart, though its user disabled it.
TEST_P(StoreContract, WhatIsSuspendedIsNeitherDueNorStarted) {
  fill(0);
  for (const bool on_the_wire : {false, true}) {
    Job job = waiting(sample_job(on_the_wire ? 2 : 1, on_the_wire ? "b" : "a"), at(10));
    if (on_the_wire) job.next->started = at(11);
    put(job);
    job.state = JobState::disabled;
    job.next->suspended = true;
    ++job.gen;
    ASSERT_EQ(commit_one(PutJob{job, 1, {}}), kApplied);
    EXPECT_EQ(due(10), Ids());
    EXPECT_TRUE(must(store_.started(10)).empty());
    EXPECT_EQ(described(*this->job(job.key->name)), described(job));
  }
}

// Its collection is disabled, it is not.
TEST_P(StoreContract, AnEnabledJobIsSuspendedAdvancedAndGoesOn) {
  fill(0);
  Job job = waiting(sample_job(1, "a"), at(10));
  job.next->suspended = true;
  job.next->started = at(11);
  put(job);
  job.next->started.reset();
  job.next->retry = 1;
  job.next->due = at(40);
  ASSERT_EQ(commit_one(AdvanceJob{job, {}}), kApplied);
  EXPECT_EQ(described(*this->job("a")), described(job));
  job.next.reset();
  ASSERT_EQ(commit_one(AdvanceJob{job, {}}), kApplied);
  EXPECT_EQ(described(*this->job("a")), described(job));
  job = waiting(job, at(50), 2);
  ++job.gen;
  ASSERT_EQ(commit_one(PutJob{job, 1, {}}), kApplied);
  EXPECT_EQ(due(10), Ids({1}));
}

TEST_P(StoreContract, JobsAreListedByFoldedNameAndPaged) {
  fill(0);
  ASSERT_EQ(commit_one(PutCollection{sample_collection(collection_key("backups2"))}), kApplied);
  put(sample_job(1, "b"));
  put(sample_job(2, "C"));
  put(sample_job(3, "a"));
  put(sample_job(4, "D"));
  put(sample_job(5, "é"));
  put(sample_job(6, "b", collection_key("backups2")));
  JobQuery query{.collection = collection_key(), .state = {}, .after = "", .limit = 10};
  EXPECT_EQ(names(query), Names({"a", "b", "C", "D", "é"}));
  query.limit = 2;
  EXPECT_EQ(names(query), Names({"a", "b"}));
  query.after = "b";
  EXPECT_EQ(names(query), Names({"C", "D"}));
  query.skip = 2;
  EXPECT_EQ(names(query), Names({"é"}));
  query = {.collection = collection_key("missing"), .state = {}, .after = "", .limit = 10};
  EXPECT_TRUE(names(query).empty());
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 5);
  EXPECT_EQ(must(store_.count_jobs(collection_key("BACKUPS2"))), 1);
}

TEST_P(StoreContract, JobsAreFilteredByStateBeforeTheyArePaged) {
  fill(0);
  for (std::int64_t id = 1; id <= 8; ++id) {
    Job job = sample_job(id, fmt::format("j{}", id));
    job.state = static_cast<JobState>(id % 4);
    put(job);
  }
  JobQuery query{.collection = collection_key(),
                 .state = JobState::faulted,
                 .after = "",
                 .skip = 0,
                 .limit = 10};
  EXPECT_EQ(names(query), Names({"j3", "j7"}));
  query.state = JobState::enabled;
  query.skip = 1;
  EXPECT_EQ(names(query), Names({"j8"}));
  query.skip = 0;
  query.limit = 1;
  EXPECT_EQ(names(query), Names({"j4"}));
  query.after = "j4";
  EXPECT_EQ(names(query), Names({"j8"}));
}

TEST_P(StoreContract, CollectionsAreListedBySubscriptionAndGroupAndCounted) {
  const auto put_key = [&](CollectionKey key, Sku sku) {
    JobCollection collection = sample_collection(key);
    collection.sku = sku;
    ASSERT_EQ(commit_one(PutCollection{collection}), kApplied);
  };
  put_key({"S", "g1", "b"}, Sku::free);
  put_key({"s", "G1", "A"}, Sku::standard);
  put_key({"S", "g1-x", "c"}, Sku::free);
  put_key({"S", "g2", "a"}, Sku::standard);
  put_key({"S2", "g1", "z"}, Sku::free);
  put_key({"S-", "g1", "y"}, Sku::free);
  const auto listed = [&](const CollectionQuery& query) {
    std::string out;
    const auto found = must(store_.collections(query));
    for (const auto& one : found) out += folded(one.key) + ' ';
    return out;
  };
  CollectionQuery query{.subscription = "s", .resource_group = {}, .after = "", .limit = 10};
  // By the folded key as one text, in which '-' comes before the slash.
  EXPECT_EQ(listed(query), "s/g1-x/c s/g1/a s/g1/b s/g2/a ");
  query.resource_group = "G1";
  EXPECT_EQ(listed(query), "s/g1/a s/g1/b ");
  query.limit = 1;
  EXPECT_EQ(listed(query), "s/g1/a ");
  query.after = "s/g1/a";
  EXPECT_EQ(listed(query), "s/g1/b ");
  query.after = "s/g1/b";
  EXPECT_EQ(listed(query), "");
  const SkuCounts counts = must(store_.count_collections("S", Sku::free));
  EXPECT_EQ(counts.all, 4);
  EXPECT_EQ(counts.of_sku, 2);
}

TEST_P(StoreContract, SweepingRemovesOldHistoryAndKeepsTheRest) {
  fill(2);
  std::vector<HistoryEntry> rows;
  for (int seq = 1; seq <= 10; ++seq) {
    rows.push_back(sample_history(1, seq));
    rows.push_back(sample_history(2, seq));
  }
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  const SweepLimits limits{.history_before = at(60 * 7 + 1), .ended_before = at(0), .limit = 5};
  EXPECT_EQ(must(store_.sweep(limits)), 5u);
  sweep_all(limits);
  EXPECT_EQ(seqs_of(1), Ids({10, 9, 8, 7}));
  EXPECT_EQ(seqs_of(2), Ids({10, 9, 8, 7}));
  EXPECT_TRUE(job("job1"));
}

// The clock was wrong for a while, and then it was put right.
TEST_P(StoreContract, SweepingRemovesWhatIsOldBehindRowsOfTheFuture) {
  fill(1);
  std::vector<HistoryEntry> rows;
  for (int seq = 1; seq <= 12; ++seq) {
    rows.push_back(sample_history(1, seq));
    if (seq <= 8) rows.back().ended = at(1'000'000 + seq);
  }
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  SweepLimits limits{
      .history_before = at(60 * 11), .ended_before = at(0), .limit = 3, .now = at(9'000)};
  // A sweep that removes nothing looks further the next time.
  for (int i = 0; i < 8; ++i) must(store_.sweep(limits));
  EXPECT_EQ(seqs_of(1), Ids({12, 11, 8, 7, 6, 5, 4, 3, 2, 1}));
  limits.history_before = limits.now = at(2'000'000);
  for (int i = 0; i < 8; ++i) must(store_.sweep(limits));
  EXPECT_EQ(seqs_of(1), Ids());
}

TEST_P(StoreContract, SweepingRemovesJobsThatEndedLongAgoAndTheirHistory) {
  fill(0);
  for (std::int64_t id = 1; id <= 4; ++id) {
    Job job = sample_job(id, fmt::format("j{}", id));
    job.state = id % 2 == 0 ? JobState::completed : JobState::faulted;
    job.ended = at(id * 10);
    put(job);
  }
  put(sample_job(5, "alive"));
  std::vector<HistoryEntry> rows;
  for (std::int64_t id = 1; id <= 5; ++id) rows.push_back(sample_history(id, 1));
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  sweep_all({.history_before = at(0), .ended_before = at(30), .limit = 3});
  EXPECT_EQ(names({.collection = collection_key(), .state = {}, .after = "", .limit = 9}),
            Names({"alive", "j3", "j4"}));
  EXPECT_EQ(must(store_.count_jobs(collection_key())), 3);
  EXPECT_TRUE(seqs_of(1).empty());
  EXPECT_EQ(seqs_of(3), Ids({1}));
  EXPECT_EQ(seqs_of(5), Ids({1}));
}

TEST_P(StoreContract, SweepingRemovesTheHistoryOfWhatWasDeletedInSlices) {
  fill(3);
  std::vector<HistoryEntry> rows;
  for (int seq = 1; seq <= 7; ++seq) {
    for (std::int64_t id = 1; id <= 3; ++id) rows.push_back(sample_history(id, seq));
  }
  EXPECT_EQ(commit_one(AddHistory{rows}), kApplied);
  EXPECT_EQ(commit_one(DeleteJob{JobId{2}, 1}), kApplied);
  const SweepLimits nothing_old{.history_before = at(0), .ended_before = at(0), .limit = 3};
  sweep_all(nothing_old);
  EXPECT_TRUE(seqs_of(2).empty());
  EXPECT_EQ(seqs_of(1).size(), 7u);
  EXPECT_EQ(commit_one(DeleteCollection{collection_key(), 1}), kApplied);
  sweep_all(nothing_old);
  EXPECT_TRUE(seqs_of(1).empty());
  EXPECT_TRUE(seqs_of(3).empty());
}

}  // namespace
}  // namespace belfry
