// SPDX-License-Identifier: MIT

#include "app/pfx_upkeep.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "net/pfx.h"
#include "net/pfx_samples.h"
#include "store/store_samples.h"

namespace belfry {
namespace {

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return false; }
};

Job job_showing(const std::string& name, std::int64_t id, const std::string& pfx) {
  Job job = sample_job(id, name);
  std::get<HttpAction>(job.definition.edit().action.what).authentication =
      ClientCertificate{Secret(pfx), Secret(kPfxPassword), kPfxThumbprint, {}, kPfxSubject};
  return job;
}

// A store as an older version left it.
class PfxUpkeepTest : public testing::Test {
 protected:
  PfxUpkeepTest() {
    EXPECT_TRUE(store_->commit({PutCollection{sample_collection()},
                                PutJob{job_showing("well", 1, kOldPfx), kGenAbsent, {}},
                                PutJob{job_showing("large", 2, kOldKeytoolPfx), kGenAbsent, {}},
                                PutJob{sample_job(3, "other"), kGenAbsent, {}}}));
    const auto db =
        *Connection::open(database_path(directory_.path()).native(), OpenMode::existing, "");
    // The last is gone by now.
    db->execute("INSERT INTO unopened(job) VALUES (1), (2), (3), (4)");
    EXPECT_FALSE(db->failed());
  }

  std::size_t unopened() {
    const auto jobs = store_->unopened_jobs(JobId{0}, 10);
    EXPECT_TRUE(jobs);
    return jobs->size();
  }

  std::string kept(const std::string& name) {
    const auto job = store_->job({collection_key(), name});
    const auto& action = std::get<HttpAction>((*job)->definition->action.what);
    return std::get<ClientCertificate>(*action.authentication).pfx.reveal();
  }

  // As the engine's thread does it, until there is nothing left to be opened.
  void work() {
    PfxUpkeep upkeep(*store_, engine_);
    while (unopened() > 0) {
      engine_.step(at(1));
      engine_.inbox().wait_for(std::chrono::milliseconds{10});
    }
  }

  ScratchDirectory directory_;
  std::unique_ptr<SqliteStore> store_ = *SqliteStore::open({.directory = directory_.path()});
  IdleDispatcher dispatcher_;
  Engine engine_{*store_, dispatcher_, Random{1}, {}};
};

TEST_F(PfxUpkeepTest, OpensWhatWasNeverOpened) {
  EXPECT_EQ(unopened(), 3U);
  work();
  const auto pfx = Pfx::read(kept("well"));
  ASSERT_TRUE(pfx) << pfx.error().message;
  EXPECT_EQ(pfx->facts().thumbprint, kPfxThumbprint);
}

TEST_F(PfxUpkeepTest, KeepsWhyOneDoesNotOpen) {
  work();
  EXPECT_TRUE(is_refused_pfx(kept("large"))) << kept("large");
}

// The server is stopped before the engine has answered.
TEST_F(PfxUpkeepTest, EndsAtOnce) {
  { const PfxUpkeep upkeep(*store_, engine_); }
  EXPECT_EQ(unopened(), 3U);
  engine_.step(at(1));
}

}  // namespace
}  // namespace belfry
