// SPDX-License-Identifier: MIT
//
// What somebody without a part in a subscription learns of it, and what that costs whom.

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "access/token_secret.h"
#include "api/api.h"
#include "store/memory_store.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
constexpr std::int64_t kReads = 3;

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return true; }
};

class CountingStore final : public MemoryStore {
 public:
  Result<std::vector<JobCollection>> collections(const CollectionQuery& query) override {
    ++scans;
    return MemoryStore::collections(query);
  }
  std::atomic<int> scans = 0;
};

class StrangersTest : public testing::Test {
 protected:
  std::string give(const Scope& scope) {
    auto minted = mint_token();
    EXPECT_TRUE(minted);
    minted->kept.name = "reader";
    minted->kept.assignments = {{Role::reader, scope}};
    EXPECT_TRUE(store_.add_token(minted->kept, {}));
    return minted->given.reveal();
  }

  static ApiOptions options_of(CountingStore& store) {
    ApiOptions options;
    options.gate.tokens = &store;
    options.audit = &store;
    options.rates.credential.reads = {kReads, kReads};
    return options;
  }

  // The status of the answer to GET.
  int get(const std::string& path, const std::string& token) {
    HttpRequest request;
    request.method = "GET";
    request.target = path + "?api-version=2016-03-01";
    request.remote_address = "192.0.2.1";
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    std::promise<int> status;
    api_.handle(request, [&](const HttpResponse& response) { status.set_value(response.status); });
    return status.get_future().get();
  }

  CountingStore store_;
  IdleDispatcher dispatcher_;
  VirtualClock clock_{kNow};
  Engine engine_{store_, dispatcher_, Random{1}, {}};
  WorkerPool workers_{1, {}};
  Api api_{store_, engine_, clock_, workers_, options_of(store_)};
};

constexpr const char* kOfSubscription =
    "/subscriptions/S/providers/Microsoft.Scheduler/jobCollections";
constexpr const char* kOfGroup =
    "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler/jobCollections";

// How long the answer takes would tell how much is there.
TEST_F(StrangersTest, AreAnsweredBeforeTheStoreIsReadAndPayForIt) {
  for (const Scope& elsewhere : {Scope{"T", "", ""}, Scope{"S", "H", ""}}) {
    const std::string token = give(elsewhere);
    for (int i = 0; i < kReads; ++i) EXPECT_EQ(get(kOfGroup, token), 200);
    EXPECT_EQ(get(kOfGroup, token), 429);
  }
  EXPECT_EQ(get(kOfSubscription, give({"T", "", ""})), 200);
  EXPECT_EQ(store_.scans, 0);
  EXPECT_EQ(get(kOfSubscription, give({"S", "G", "c"})), 200);
  EXPECT_EQ(store_.scans, 1);
}

TEST_F(StrangersTest, WhoAreNotKnownLeaveATrace) {
  EXPECT_EQ(get(kOfGroup, ""), 401);
  EXPECT_EQ(get(kOfGroup, "belfry_0000"), 401);
  EXPECT_EQ(api_.failed_authentications().count(AuthenticationFault::no_token), 1u);
  EXPECT_EQ(api_.failed_authentications().count(AuthenticationFault::unknown_token), 1u);
  engine_.step(kNow);
  const auto rows = *store_.audit_rows({.scope = "", .limit = 10});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].entry.result, AuditResult::refused);
  EXPECT_EQ(rows[0].entry.request.address, "192.0.2.1");
}

}  // namespace
}  // namespace belfry
