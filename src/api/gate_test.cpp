// SPDX-License-Identifier: MIT

#include "api/gate.h"

#include <gtest/gtest.h>

#include "access/token_secret.h"
#include "store/memory_store.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
const Scope kCollection{"Sub", "Group", "Jobs"};
const Error kHidden{ErrorCode::collection_not_found, "not there", {}};

HttpRequest request_with(HttpHeaders headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return request;
}

// Where everything is known at once.
Result<Caller> admit_at_once(const Gate& gate, const HttpRequest& request, Instant now = kNow) {
  Result<Caller> answer = Error{ErrorCode::internal, "there was no answer", {}};
  gate.admit(request, now, [&](Admission admission) { answer = std::move(admission.caller); });
  return answer;
}

bool admitted(HttpHeaders headers) {
  return admit_at_once(Gate({}), request_with(std::move(headers))).has_value();
}

// A page in a browser on this machine can send requests here: it must not get in.
TEST(Gate, LocalModeAdmitsThisMachineAndNoPageOfAnotherOrigin) {
  for (const char* host :
       {"localhost", "localhost:7070", "LOCALHOST", "127.0.0.1:7070", "127.1.2.3", "[::1]:7070"}) {
    EXPECT_TRUE(admitted({{"Host", host}})) << host;
  }
  for (const char* host : {"", "evil.test", "localhost.evil.test", "127.0.0.1.evil.test",
                           "10.0.0.1:7070", "[::2]", "127.0.0.1@evil.test", "0x7f.1"}) {
    EXPECT_FALSE(admitted({{"Host", host}})) << host;
  }
  EXPECT_TRUE(admitted({{"Host", "localhost:7070"}, {"Origin", "http://localhost:7070"}}));
  for (const char* origin : {"http://evil.test", "null", "http://localhost",
                             "https://localhost:7070", "http://localhost:8080"}) {
    EXPECT_FALSE(admitted({{"Host", "localhost:7070"}, {"Origin", origin}})) << origin;
  }
}

class TokenGate : public testing::Test {
 protected:
  // A token with the role over the collection.
  std::string give(Role role, std::optional<Instant> expires = std::nullopt) {
    auto minted = mint_token();
    EXPECT_TRUE(minted);
    minted->kept.name = "ci";
    minted->kept.assignments = {{role, kCollection}};
    minted->kept.created = kNow;
    minted->kept.expires = expires;
    EXPECT_TRUE(store_.add_token(minted->kept, {}));
    return minted->given.reveal();
  }

  Result<Caller> admit(HttpHeaders headers, Instant now = kNow) {
    return admit_at_once(gate_, request_with(std::move(headers)), now);
  }
  Result<Caller> admit(const std::string& token, Instant now = kNow) {
    return admit(HttpHeaders{{"Authorization", "Bearer " + token}}, now);
  }

  MemoryStore store_;
  Gate gate_{{&store_, {}}};
};

TEST_F(TokenGate, KnowsItsOwnTokens) {
  const std::string token = give(Role::reader);
  const auto caller = admit(token);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->principal().name, "ci");
  EXPECT_TRUE(admit(HttpHeaders{{"authorization", "bEARER " + token}}));
}

TEST_F(TokenGate, AnythingElseIsNotAuthenticated) {
  const std::string token = give(Role::owner);
  std::string wrong_secret = token;
  wrong_secret.back() = wrong_secret.back() == '0' ? '1' : '0';
  std::string wrong_id = token;
  wrong_id[7] = wrong_id[7] == '0' ? '1' : '0';
  const HttpHeaders cases[] = {
      {},
      {{"Authorization", ""}},
      {{"Authorization", "Bearer"}},
      {{"Authorization", "Bearer "}},
      {{"Authorization", "Basic " + token}},
      {{"Authorization", token}},
      {{"Authorization", "Bearer  " + token}},
      {{"Authorization", "Bearer " + token + " "}},
      {{"Authorization", "Bearer\t" + token}},
      {{"Authorization", "Bearer " + token + ", Bearer " + token}},
      {{"Authorization", "Bearer " + wrong_secret}},
      {{"Authorization", "Bearer " + wrong_id}},
      {{"Authorization", "Bearer " + std::string(100'000, 'a')}},
      {{"Authorization", "Bearer belfry_" + std::string(100'000, 'a')}},
      {{"Authorization", "Bearer belfry_\x01\x02"}},
      {{"Authorization", "Bearer " + token}, {"Authorization", "Bearer " + token}},
      {{"Authorization", "Bearer " + token}, {"authorization", "Bearer x"}},
      {{"X-Authorization", "Bearer " + token}},
      {{"Authorization", "Bearer eyJhbGciOiJub25lIn0.e30."}},
  };
  for (const HttpHeaders& headers : cases) {
    const auto caller = admit(headers);
    const std::string shown = headers.empty() ? "none" : headers[0].second.substr(0, 80);
    ASSERT_FALSE(caller) << shown;
    EXPECT_EQ(caller.error().code, ErrorCode::unauthenticated) << shown;
    EXPECT_EQ(caller.error().message.find(token), std::string::npos);
  }
}

// Whoever tries is told nothing of it.
TEST_F(TokenGate, SaysWhyNobodyWasRecognised) {
  const auto fault = [&](const std::string& credential, Instant now = kNow) {
    std::optional<FailedAuthentication> failure;
    gate_.admit(request_with({{"Authorization", credential}}), now,
                [&](const Admission& admission) { failure = admission.failure; });
    return failure ? std::string(name_of(failure->fault)) + failure->token_name : "";
  };
  const std::string token = give(Role::reader, kNow + Seconds{1});
  EXPECT_EQ(fault("Bearer " + token), "");
  EXPECT_EQ(fault("Bearer " + token, kNow + Seconds{1}), "expired_tokenci");
  EXPECT_EQ(fault("Basic " + token), "no_token");
  EXPECT_EQ(fault("Bearer " + token + "0"), "unknown_token");
  EXPECT_EQ(fault("Bearer a.b.c"), "unknown_token");
  ASSERT_TRUE(store_.revoke_token(parse_token(token)->id, {}));
  EXPECT_EQ(fault("Bearer " + token), "revoked_tokenci");
  std::string wrong_secret = token;
  wrong_secret.back() = wrong_secret.back() == '0' ? '1' : '0';
  EXPECT_EQ(fault("Bearer " + wrong_secret), "unknown_token");
}

TEST_F(TokenGate, ATokenEndsWhenItExpiresAndWhenItIsRevoked) {
  const std::string token = give(Role::owner, kNow + kOneTick);
  EXPECT_TRUE(admit(token, kNow));
  EXPECT_FALSE(admit(token, kNow + kOneTick));
  AuditEntry entry;
  entry.at = kNow;
  ASSERT_TRUE(store_.revoke_token(parse_token(token)->id, entry));
  EXPECT_FALSE(admit(token, kNow));
}

TEST_F(TokenGate, TokensOfOthersGoToTheVerifier) {
  const Gate gate({&store_, [](const Secret& bearer, const Verified& verified) {
                     if (bearer.reveal() == "down") {
                       return verified(Error{ErrorCode::unavailable, "the issuer is down", {}});
                     }
                     if (bearer.reveal() != "good") {
                       return verified(Error{ErrorCode::invalid, "no", {}});
                     }
                     verified(Principal{PrincipalKind::bearer, "oid", "ann", {}});
                   }});
  const auto admit_with = [&](const std::string& bearer) {
    return admit_at_once(gate, request_with({{"Authorization", "Bearer " + bearer}}));
  };
  ASSERT_TRUE(admit_with("good"));
  EXPECT_EQ(admit_with("good")->principal().name, "ann");
  EXPECT_EQ(admit_with("bad").error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(admit_with("down").error().code, ErrorCode::unavailable);
  EXPECT_EQ(admit_with("belfry_good").error().code, ErrorCode::unauthenticated);
}

// Nobody waits for an issuer but those who bear its tokens, and they without a thread.
TEST_F(TokenGate, DoesNotWaitForTheVerifier) {
  Verified waiting;
  const Gate gate({&store_, [&](const Secret&, Verified verified) { waiting = verified; }});
  HttpRequest request = request_with({{"Authorization", "Bearer a.b.c"}});
  request.remote_address = "192.0.2.1";
  std::optional<Result<Caller>> answer;
  gate.admit(request, kNow, [&](Admission admission) { answer = std::move(admission.caller); });
  EXPECT_FALSE(answer);
  EXPECT_TRUE(
      admit_at_once(gate, request_with({{"Authorization", "Bearer " + give(Role::reader)}})));
  request = {};
  waiting(Principal{PrincipalKind::bearer, "oid", "ann", {}});
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->address(), "192.0.2.1");
}

TEST_F(TokenGate, WhatOneMayReadAndNotDoIsForbiddenAndTheRoleIsNamed) {
  const auto caller = admit(give(Role::reader));
  ASSERT_TRUE(caller);
  EXPECT_TRUE(gate_.permit(*caller, {Operation::read, kCollection, "/id"}, [] { return kHidden; }));
  const auto refused =
      gate_.permit(*caller, {Operation::run_job, kCollection, "/id"}, [] { return kHidden; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  for (const char* part : {"'ci'", "'Microsoft.Scheduler/jobCollections/jobs/run/action'",
                           "over scope '/id'", "the role Operator"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << part;
  }
}

TEST_F(TokenGate, WhatOneMayNotReadIsNotThere) {
  const auto caller = admit(give(Role::owner));
  ASSERT_TRUE(caller);
  for (const Operation operation : {Operation::read, Operation::write_job}) {
    const auto refused = gate_.permit(*caller, {operation, {"Sub", "Group", "Other"}, "/id"},
                                      [] { return kHidden; });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, kHidden.message);
  }
}

TEST_F(TokenGate, APermitSaysWhoDoesWhatFromWhere) {
  HttpRequest request = request_with({{"Authorization", "Bearer " + give(Role::contributor)}});
  request.remote_address = "192.0.2.1";
  const auto caller = admit_at_once(gate_, request);
  ASSERT_TRUE(caller);
  const auto permit =
      gate_.permit(*caller, {Operation::write_job, kCollection, "/id"}, [] { return kHidden; });
  ASSERT_TRUE(permit);
  const AuditedRequest expected{PrincipalKind::token,
                                "ci",
                                caller->principal().id,
                                "192.0.2.1",
                                "Microsoft.Scheduler/jobCollections/jobs/write",
                                "sub/group/jobs",
                                "/id"};
  EXPECT_EQ(permit->audited(), expected);
}

}  // namespace
}  // namespace belfry
