// SPDX-License-Identifier: MIT
//
// What the engine changes for somebody is told of in the audit log, with the change.

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "store/fingerprint.h"
#include "store/memory_store.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return true; }
};

class AuditTrail : public testing::Test {
 protected:
  AuditTrail() {
    collection_.key = collection_key();
    collection_.quota.max_job_count = 10;
    engine_.step(kNow);
  }

  void submit(Command command, const std::string& resource) {
    AuditedRequest request;
    request.resource = resource;
    submit_as(std::move(command), request);
  }
  void submit_as(Command command, std::optional<AuditedRequest> request) {
    engine_.submit(
        std::move(command), [](const Result<Reply>&) {}, std::move(request));
  }

  PutJobCommand put_job(const std::string& uri) {
    PutJobCommand command;
    command.key = {collection_key(), "job"};
    HttpAction action;
    action.method = "GET";
    action.uri = uri;
    command.definition.edit().action.what = action;
    command.definition.edit().timing.start_time = kNow + std::chrono::hours{1};
    return command;
  }

  // What came into the log in this step, the oldest first: "resource result".
  std::vector<std::string> step() {
    constexpr const char* kResults[] = {"created", "updated", "deleted", "started", "refused"};
    const std::size_t before = rows().size();
    engine_.step(kNow);
    std::vector<std::string> out;
    const auto all = rows();
    for (std::size_t i = before; i < all.size(); ++i) {
      out.push_back(all[i].entry.request.resource + " " +
                    kResults[static_cast<std::size_t>(all[i].entry.result)]);
    }
    return out;
  }

  std::vector<AuditRow> rows() {
    auto newest_first = *store_.audit_rows({.scope = "", .limit = 1000});
    std::reverse(newest_first.begin(), newest_first.end());
    return newest_first;
  }

  using Lines = std::vector<std::string>;
  MemoryStore store_;
  IdleDispatcher dispatcher_;
  Engine engine_{store_, dispatcher_, Random{1}, {}};
  JobCollection collection_;
};

TEST_F(AuditTrail, EveryChangeOfAStepHasItsRowInTheirOrder) {
  const JobKey key{collection_key(), "job"};
  submit(PutCollectionCommand{collection_, {}}, "collection");
  submit(put_job("http://a.test/"), "job");
  submit(put_job("http://b.test/"), "job");
  submit(RunJobCommand{key}, "run");
  EXPECT_EQ(step(), (Lines{"collection created", "job created", "job updated", "run started"}));
  submit(DeleteJobCommand{key}, "job");
  submit(SetCollectionStateCommand{collection_key(), CollectionState::disabled}, "state");
  submit(DeleteCollectionCommand{collection_key()}, "collection");
  EXPECT_EQ(step(), (Lines{"job deleted", "state updated", "collection deleted"}));
}

// Nothing of it is stored, and it happened all the same.
TEST_F(AuditTrail, WhatIsMadeAndRemovedInOneStepIsToldOf) {
  submit(PutCollectionCommand{collection_, {}}, "collection");
  submit(put_job("http://a.test/"), "job");
  submit(DeleteCollectionCommand{collection_key()}, "collection");
  EXPECT_EQ(step(), (Lines{"collection created", "job created", "collection deleted"}));
  EXPECT_FALSE(store_.collection(collection_key()).value().has_value());
}

TEST_F(AuditTrail, WhatChangesNothingAndWhatIsRefusedHasNoRow) {
  submit(DeleteCollectionCommand{collection_key()}, "collection");
  submit(DeleteJobCommand{{collection_key(), "job"}}, "job");
  submit(put_job("http://a.test/"), "job");
  submit(RunJobCommand{{collection_key(), "job"}}, "run");
  EXPECT_EQ(step(), Lines{});
}

// Beside changes of the same step, and whatever becomes of them.
TEST_F(AuditTrail, ARefusalHasARowAndChangesNothing) {
  submit(NoteRefusalCommand{}, "refusal");
  EXPECT_EQ(step(), Lines{"refusal refused"});
  submit(PutCollectionCommand{collection_, {}}, "collection");
  submit(NoteRefusalCommand{}, "refusal");
  EXPECT_EQ(step(), (Lines{"collection created", "refusal refused"}));
}

TEST_F(AuditTrail, WhatNobodyAskedForHasNoRow) {
  submit_as(PutCollectionCommand{collection_, {}}, std::nullopt);
  EXPECT_EQ(step(), Lines{});
}

TEST_F(AuditTrail, TheHashesAreThoseOfTheDefinitionBeforeAndAfter) {
  submit(PutCollectionCommand{collection_, {}}, "collection");
  submit(put_job("http://a.test/"), "job");
  step();
  const Job first = **store_.job({collection_key(), "job"});
  submit(put_job("http://b.test/"), "job");
  step();
  const Job second = **store_.job({collection_key(), "job"});
  const AuditEntry created = rows()[1].entry;
  const AuditEntry replaced = rows()[2].entry;
  EXPECT_EQ(created.before, "");
  EXPECT_EQ(created.after, fingerprint(first));
  EXPECT_EQ(replaced.before, fingerprint(first));
  EXPECT_EQ(replaced.after, fingerprint(second));
  EXPECT_NE(replaced.before, replaced.after);
  EXPECT_EQ(replaced.at, kNow);
}

// A hash of a password could be tried out.
TEST(Fingerprint, LeavesSecretsOutAndTheStateIn) {
  Job job = sample_job(1, "job");
  const std::string plain = fingerprint(job);
  Job secret = job;
  std::get<HttpAction>(secret.definition.edit().action.what).authentication =
      BasicAuthentication{"user", Secret("one")};
  const std::string one = fingerprint(secret);
  std::get<HttpAction>(secret.definition.edit().action.what).authentication =
      BasicAuthentication{"user", Secret("other")};
  EXPECT_EQ(fingerprint(secret), one);
  EXPECT_NE(one, plain);
  job.state = JobState::disabled;
  EXPECT_NE(fingerprint(job), plain);
}

}  // namespace
}  // namespace belfry
