// SPDX-License-Identifier: MIT

#include "engine/apply_command.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const Instant kNow = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

CollectionKey collection_key(const std::string& name = "backups") {
  return {"sub", "group", name};
}

JobKey job_key(const std::string& name) {
  return {collection_key(), name};
}

JobCollection collection_of(Sku sku, const std::string& name = "backups") {
  const Plans plans = Plans::azure();
  JobCollection collection;
  collection.key = collection_key(name);
  collection.location = "West Europe";
  collection.sku = sku;
  collection.quota = plans.of(sku).given;
  return collection;
}

JobDefinition every(int interval, Frequency frequency) {
  JobDefinition definition;
  definition.timing.recurrence.emplace();
  definition.timing.recurrence->frequency = frequency;
  definition.timing.recurrence->interval = interval;
  return definition;
}

// Begins with the collection `backups` in the standard plan. Each apply() is a step of its own.
class ApplyCommand : public testing::Test {
 protected:
  ApplyCommand() { EXPECT_TRUE(apply(PutCollectionCommand{collection_of(Sku::standard), {}})); }

  // What is refused must leave nothing to be written.
  Result<Reply> apply(const Command& command) {
    Draft draft(store_);
    Result<Reply> reply =
        apply_command(command, {draft, plans_, kNow, [this] { return JobId{++last_id_}; }});
    EXPECT_TRUE(reply || draft.empty()) << "half applied";
    const auto results = *store_.commit(draft.take_writes().writes);
    for (const WriteResult result : results) EXPECT_EQ(result, WriteResult::applied);
    return reply;
  }

  Error refused(const Command& command) {
    const Result<Reply> reply = apply(command);
    return reply ? Error{ErrorCode::internal, "it was not refused", {}} : reply.error();
  }

  Job put(const std::string& name, const JobDefinition& definition) {
    return *apply(PutJobCommand{job_key(name), definition})->job;
  }
  std::optional<Job> stored(const std::string& name) { return *store_.job(job_key(name)); }
  JobCollection stored_collection() { return **store_.collection(collection_key()); }

  MemoryStore store_;
  Plans plans_ = Plans::azure();
  std::int64_t last_id_ = 0;
};

TEST_F(ApplyCommand, PutMakesAndReplacesAndSaysWhich) {
  const auto made = apply(PutJobCommand{job_key("a"), every(1, Frequency::hour)});
  EXPECT_TRUE(made->created);
  const auto replaced = apply(PutJobCommand{job_key("A"), every(1, Frequency::day)});
  EXPECT_FALSE(replaced->created);
  EXPECT_EQ(replaced->job->id, made->job->id);
  EXPECT_EQ(stored("a")->key->name, "a") << "the first spelling stays";
  EXPECT_EQ(stored("a")->gen, 2);
}

// Azure's clients send back what they were given, but for the members that they do not know.
TEST_F(ApplyCommand, APutThatLeavesOurMembersOutKeepsThem) {
  JobDefinition definition = every(1, Frequency::hour);
  definition.metrics = true;
  put("a", definition);
  definition.metrics.reset();
  EXPECT_EQ(put("a", definition).definition->metrics, true);
  definition.metrics = false;
  EXPECT_NE(put("a", definition).definition->metrics, true);
  definition.metrics.reset();
  EXPECT_NE(put("a", definition).definition->metrics, true);
  EXPECT_NE(put("another", definition).definition->metrics, true);
}

TEST_F(ApplyCommand, AJobUnderAMissingCollectionIsRefusedByItsParentsName) {
  const Error error = refused(PutJobCommand{{collection_key("none"), "a"}, {}});
  EXPECT_EQ(error.code, ErrorCode::parent_missing);
  EXPECT_NE(error.message.find("jobCollections/none"), std::string::npos);
}

TEST_F(ApplyCommand, TheQuotaOfJobsIsFullAtItsNumberAndReplacingStillWorks) {
  JobCollection small = collection_of(Sku::standard);
  small.quota.max_job_count = 2;
  ASSERT_TRUE(apply(PutCollectionCommand{small, {}}));
  put("a", every(1, Frequency::hour));
  put("b", every(1, Frequency::hour));
  const Error error = refused(PutJobCommand{job_key("c"), every(1, Frequency::hour)});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("quota of '2' jobs"), std::string::npos);
  EXPECT_NE(error.message.find("properties.quota.maxJobCount raises it, up to 50"),
            std::string::npos)
      << error.message;
  EXPECT_TRUE(apply(PutJobCommand{job_key("b"), every(1, Frequency::day)}));
  ASSERT_TRUE(apply(DeleteJobCommand{job_key("a")}));
  EXPECT_TRUE(apply(PutJobCommand{job_key("c"), every(1, Frequency::hour)}));
}

// Two jobs that come in the same step must know of each other.
TEST_F(ApplyCommand, TheQuotaHoldsWithinAStep) {
  JobCollection small = collection_of(Sku::standard);
  small.quota.max_job_count = 1;
  ASSERT_TRUE(apply(PutCollectionCommand{small, {}}));
  Draft draft(store_);
  const Applying with{draft, plans_, kNow, [this] { return JobId{++last_id_}; }};
  EXPECT_TRUE(apply_command(PutJobCommand{job_key("a"), {}}, with));
  EXPECT_FALSE(apply_command(PutJobCommand{job_key("b"), {}}, with));
}

TEST_F(ApplyCommand, AJobThatRecursTooOftenIsAConflictThatNamesTheMember) {
  JobCollection hourly = collection_of(Sku::standard);
  hourly.quota.max_recurrence = {Frequency::hour, 1};
  ASSERT_TRUE(apply(PutCollectionCommand{hourly, {}}));
  const Error error = refused(PutJobCommand{job_key("a"), every(30, Frequency::minute)});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.target, "properties.recurrence");
  EXPECT_FALSE(stored("a"));
}

TEST_F(ApplyCommand, APatchStandsOnlyOnTheJobThatWasRead) {
  put("a", every(1, Frequency::hour));
  PatchJobCommand patch{job_key("a"), every(1, Frequency::day), true, /*expected_gen=*/7};
  EXPECT_EQ(refused(patch).code, ErrorCode::changed);
  EXPECT_EQ(stored("a")->definition, every(1, Frequency::hour));
  patch.expected_gen = 1;
  EXPECT_TRUE(apply(patch));
  EXPECT_EQ(stored("a")->definition, every(1, Frequency::day));
}

TEST_F(ApplyCommand, WhatDoesNotExistCannotBePatchedOrRun) {
  EXPECT_EQ(refused(PatchJobCommand{job_key("a"), {}, true, 1}).code, ErrorCode::job_not_found);
  EXPECT_EQ(refused(RunJobCommand{job_key("a")}).code, ErrorCode::job_not_found);
  const JobKey nowhere{collection_key("none"), "a"};
  EXPECT_EQ(refused(RunJobCommand{nowhere}).code, ErrorCode::collection_not_found);
  EXPECT_EQ(
      refused(SetCollectionStateCommand{collection_key("none"), CollectionState::disabled}).code,
      ErrorCode::collection_not_found);
}

// Azure's clients take anything else than 200 for a failure.
TEST_F(ApplyCommand, DeletingWhatIsNotThereIsDone) {
  EXPECT_TRUE(apply(DeleteJobCommand{job_key("a")}));
  EXPECT_TRUE(apply(DeleteJobCommand{{collection_key("none"), "a"}}));
  EXPECT_TRUE(apply(DeleteCollectionCommand{collection_key("none")}));
}

// A10: the job is gone, and with its name taken again it is another job.
TEST_F(ApplyCommand, A10ADeletedJobDoesNotComeBack) {
  const Job first = put("a", every(1, Frequency::hour));
  ASSERT_TRUE(apply(DeleteJobCommand{job_key("A")}));
  EXPECT_FALSE(stored("a"));
  EXPECT_NE(put("a", every(1, Frequency::hour)).id, first.id);
}

TEST_F(ApplyCommand, RunIsForJobsWhoseCollectionRuns) {
  put("a", every(1, Frequency::hour));
  EXPECT_EQ(apply(RunJobCommand{job_key("a")})->job->next->origin, Origin::extra);
  ASSERT_TRUE(apply(SetCollectionStateCommand{collection_key(), CollectionState::disabled}));
  const Error error = refused(RunJobCommand{job_key("a")});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("collection is disabled"), std::string::npos);
}

// Whoever puts his jobs whenever he starts resets nothing.
TEST_F(ApplyCommand, APutOfWhatIsThereChangesNothing) {
  const Job before = put("a", every(1, Frequency::hour));
  Draft draft(store_);
  Trail trail;
  const auto reply = apply_command(PutJobCommand{job_key("A"), every(1, Frequency::hour)},
                                   {draft, plans_, kNow + minutes{5}, {}, &trail});
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->created);
  EXPECT_EQ(reply->job->gen, before.gen);
  EXPECT_EQ(reply->job->next, before.next);
  EXPECT_TRUE(draft.empty());
  EXPECT_FALSE(trail.result) << "the audit log tells of what changed";
}

TEST_F(ApplyCommand, ASecretIsComparedToo) {
  const auto with_password = [](const std::string& password) {
    JobDefinition definition = every(1, Frequency::hour);
    std::get<HttpAction>(definition.action.what).authentication =
        BasicAuthentication{"anna", Secret(password)};
    return definition;
  };
  put("a", with_password("one"));
  EXPECT_EQ(put("a", with_password("one")).gen, 1);
  EXPECT_EQ(put("a", with_password("two")).gen, 2);
}

// By PUT or by POST.
TEST_F(ApplyCommand, APutThatDiffersInItsStateAloneDisablesOrEnables) {
  const JobDefinition hourly = every(1, Frequency::hour);
  for (const bool by_put : {true, false}) {
    Job job = put("a", hourly);
    job.status.executions = 7;
    job.next->retry = 1;
    ++job.gen;
    ASSERT_EQ(store_.commit({PutJob{job, job.gen - 1, {}}})->at(0), WriteResult::applied);
    const auto set = [&](bool enabled) {
      return by_put ? apply(PutJobCommand{job_key("a"), hourly, enabled})
                    : apply(SetJobStateCommand{job_key("a"), enabled});
    };
    const Job off = *set(false)->job;
    EXPECT_EQ(off.state, JobState::disabled);
    ASSERT_TRUE(off.next);
    EXPECT_TRUE(off.next->suspended);
    EXPECT_EQ(set(false)->job->gen, off.gen) << "it is disabled already";
    const Job on = *set(true)->job;
    EXPECT_EQ(on.status, job.status);
    EXPECT_EQ(on.next, job.next);
    ASSERT_TRUE(apply(DeleteJobCommand{job_key("a")}));
  }
}

TEST_F(ApplyCommand, AnEndedJobIsNeitherEnabledNorDisabledAndAPutMakesItAnew) {
  Job job = put("a", {});
  job.state = JobState::completed;
  job.next.reset();
  ++job.gen;
  ASSERT_EQ(store_.commit({PutJob{job, 1, {}}})->at(0), WriteResult::applied);
  for (const bool enabled : {true, false}) {
    EXPECT_EQ(refused(SetJobStateCommand{job_key("a"), enabled}).code, ErrorCode::conflict);
  }
  EXPECT_EQ(put("a", {}).state, JobState::enabled);
}

TEST_F(ApplyCommand, JobsStopAndGoOnWithTheirCollection) {
  put("a", every(1, Frequency::hour));
  put("z", every(1, Frequency::hour));
  ASSERT_TRUE(apply(SetCollectionStateCommand{collection_key(), CollectionState::disabled}));
  EXPECT_FALSE(stored("a")->next);
  EXPECT_FALSE(stored("z")->next);
  EXPECT_EQ(stored("a")->state, JobState::enabled) << "its own state stays";
  EXPECT_FALSE(put("c", every(1, Frequency::hour)).next);
  ASSERT_TRUE(apply(SetCollectionStateCommand{collection_key(), CollectionState::enabled}));
  EXPECT_TRUE(stored("a")->next);
  EXPECT_TRUE(stored("z")->next);
  EXPECT_TRUE(stored("c")->next);
}

TEST_F(ApplyCommand, ACollectionCannotMove) {
  JobCollection moved = collection_of(Sku::standard);
  moved.location = "WEST europe";
  EXPECT_TRUE(apply(PutCollectionCommand{moved, {}}));
  moved.location = "East US";
  EXPECT_EQ(refused(PutCollectionCommand{moved, {}}).target, "location");
}

TEST_F(ApplyCommand, ACollectionIsWrittenOnlyAsItWasRead) {
  JobCollection collection = collection_of(Sku::standard);
  EXPECT_EQ(refused(PutCollectionCommand{collection, /*expected_gen=*/9}).code, ErrorCode::changed);
  EXPECT_TRUE(apply(PutCollectionCommand{collection, 1}));
  EXPECT_EQ(stored_collection().gen, 2);
  collection.key.name = "none";
  EXPECT_EQ(refused(PutCollectionCommand{collection, 1}).code, ErrorCode::collection_not_found);
}

TEST_F(ApplyCommand, ASubscriptionHasOneFreeCollection) {
  EXPECT_TRUE(apply(PutCollectionCommand{collection_of(Sku::free, "free"), {}}));
  EXPECT_EQ(refused(PutCollectionCommand{collection_of(Sku::free, "free2"), {}}).code,
            ErrorCode::conflict);
  EXPECT_EQ(refused(PutCollectionCommand{collection_of(Sku::free), {}}).code, ErrorCode::conflict);
  EXPECT_TRUE(apply(PutCollectionCommand{collection_of(Sku::free, "FREE"), {}})) << "it is that";
}

// Whatever their plans: it is what a subscription's lists and counts can bear.
TEST_F(ApplyCommand, ASubscriptionHasABoundedNumberOfCollections) {
  plans_.collections_max = 2;
  EXPECT_TRUE(apply(PutCollectionCommand{collection_of(Sku::p10_premium, "second"), {}}));
  const Error error = refused(PutCollectionCommand{collection_of(Sku::free, "third"), {}});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.message, "The subscription has reached its limit of 2 job collections.");
  EXPECT_TRUE(apply(PutCollectionCommand{collection_of(Sku::p20_premium, "second"), {}}))
      << "another plan makes none more";
  JobCollection elsewhere = collection_of(Sku::standard);
  elsewhere.key.subscription = "other";
  EXPECT_TRUE(apply(PutCollectionCommand{elsewhere, {}}));
}

TEST_F(ApplyCommand, AQuotaBelowWhatIsThereIsAConflictThatNamesTheMemberOrTheJob) {
  put("a", every(10, Frequency::minute));
  put("b", every(1, Frequency::hour));
  JobCollection smaller = collection_of(Sku::standard);
  smaller.quota.max_job_count = 1;
  EXPECT_EQ(refused(PutCollectionCommand{smaller, {}}).target, "properties.quota.maxJobCount");
  smaller.quota = {50, {Frequency::hour, 1}};
  const Error error = refused(PutCollectionCommand{smaller, {}});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("Job 'a'"), std::string::npos);
  EXPECT_EQ(stored_collection().gen, 1);
}

TEST_F(ApplyCommand, ADowngradeToFreeNeedsJobsThatFreeAllowsAndChangesTheirRetries) {
  JobDefinition calls = every(1, Frequency::hour);
  std::get<HttpAction>(calls.action.what).authentication = BasicAuthentication{"anna", Secret("x")};
  put("a", calls);
  EXPECT_NE(refused(PutCollectionCommand{collection_of(Sku::free), {}}).message.find("uthenticat"),
            std::string::npos);
  put("a", every(1, Frequency::hour));
  ASSERT_TRUE(apply(PutCollectionCommand{collection_of(Sku::free), {}}));
  EXPECT_EQ(stored("a")->retry_interval_default, kRetryIntervalFree);
  EXPECT_TRUE(stored("a")->next) << "it goes on";
}

TEST_F(ApplyCommand, ADeletedCollectionTakesItsJobsWithIt) {
  put("a", every(1, Frequency::hour));
  ASSERT_TRUE(apply(DeleteCollectionCommand{{"SUB", "Group", "Backups"}}));
  EXPECT_FALSE(*store_.collection(collection_key()));
  EXPECT_FALSE(stored("a"));
}

TEST(KeyOf, IsTheSameHoweverTheThingIsSpelt) {
  EXPECT_EQ(key_of(RunJobCommand{{{"SUB", "G", "C"}, "Job"}}),
            key_of(DeleteJobCommand{{{"sub", "g", "c"}, "job"}}));
  EXPECT_NE(key_of(DeleteCollectionCommand{{"sub", "g", "c"}}),
            key_of(DeleteJobCommand{{{"sub", "g", "c"}, "job"}}));
}

}  // namespace
}  // namespace belfry
