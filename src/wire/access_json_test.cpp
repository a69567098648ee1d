// SPDX-License-Identifier: MIT

#include "wire/access_json.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "wire/resource_path.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

std::string scope_again(const std::string& text) {
  const auto scope = parse_scope(text);
  return scope ? scope_id(*scope) : "";
}

TEST(Scopes, AreReadAndWrittenAsArmWritesThem) {
  for (const char* text : {"/", "/subscriptions/S", "/subscriptions/S/resourceGroups/G",
                           "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler/"
                           "jobCollections/C"}) {
    EXPECT_EQ(scope_again(text), text);
  }
  EXPECT_EQ(scope_again("/SUBSCRIPTIONS/S/resourcegroups/G/"), "/subscriptions/S/resourceGroups/G");
}

// A scope that is wrong must never be read as a wider one.
TEST(Scopes, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "//", "S", "/subscriptions", "/subscriptions/", "/subscriptions//", "/sub/S",
        "/subscriptions/S/resourceGroups", "/subscriptions/S/resourceGroups/", "/subscriptions/S/G",
        "/subscriptions/S/resourceGroups/G/providers",
        "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler",
        "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler/jobCollections",
        "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler/jobCollections/C/jobs",
        "/subscriptions/S/resourceGroups/G/providers/Microsoft.Scheduler/jobCollections/C/jobs/J",
        "/subscriptions/S/providers/Microsoft.Scheduler/jobCollections/C", "/subscriptions/a b",
        "/subscriptions/S/resourceGroups/a%2fb", "/subscriptions/%00"}) {
    EXPECT_FALSE(parse_scope(text)) << text;
  }
}

TEST(AccessJson, AssignmentsComeBackFromTheStore) {
  const Assignments given = {{Role::owner, {}}, {Role::operator_, {"S", "G", "C"}}};
  const auto again = parse_assignments(assignments_text(given));
  ASSERT_TRUE(again);
  EXPECT_EQ(assignments_text(*again), assignments_text(given));
  EXPECT_FALSE(parse_assignments("[7]"));
  EXPECT_FALSE(parse_assignments(R"([{"role":"Owner","scope":"x"}])"));
}

TEST(AccessJson, ATokenSaysInWhichStateItIs) {
  Token token;
  token.expires = kNow;
  const auto state = [&](Instant now) { return write_token(token, now)["state"]; };
  EXPECT_EQ(state(kNow - kOneTick), "usable");
  EXPECT_EQ(state(kNow), "expired");
  token.revoked = kNow;
  EXPECT_EQ(state(kNow - kOneTick), "revoked");
  token.secret_hash = "the hash";
  EXPECT_EQ(boost::json::serialize(write_token(token, kNow)).find("the hash"), std::string::npos);
}

}  // namespace
}  // namespace belfry
