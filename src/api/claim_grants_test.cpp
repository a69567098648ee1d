// SPDX-License-Identifier: MIT

#include "api/claim_grants.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

Claims claims_with(std::map<std::string, std::vector<std::string>, std::less<>> texts) {
  return {"https://issuer.test/", "ringer", {}, std::move(texts)};
}

TEST(ClaimGrants, AreReadFromBothEnds) {
  const auto grants = parse_claim_grants(
      " roles=Belfry.Admin:Owner@/ ,sub=auth0|a:b@c=d:Reader@/subscriptions/s/resourceGroups/g,");
  ASSERT_TRUE(grants) << grants.error().message;
  ASSERT_EQ(grants->size(), 2U);
  EXPECT_EQ((*grants)[0].claim, "roles");
  EXPECT_EQ((*grants)[0].value, "Belfry.Admin");
  EXPECT_EQ((*grants)[0].assignment.role, Role::owner);
  EXPECT_EQ(folded((*grants)[0].assignment.scope), "");
  EXPECT_EQ((*grants)[1].value, "auth0|a:b@c=d");
  EXPECT_EQ(folded((*grants)[1].assignment.scope), "s/g");
}

TEST(ClaimGrants, ThatMakeNoSenseAreNamed) {
  for (const char* wrong :
       {"x", "=a:Owner@/", "roles=:Owner@/", "roles=a:@/", "roles=a:Owner", "roles:Owner@/",
        "roles=Owner@/", "a:b=Owner@/", "roles=a:King@/", "roles=a:owner@/", "roles=a:Owner@/x",
        "roles=a:Owner@/subscriptions", "roles=a:Owner@/subscriptions/a b"}) {
    const auto grants = parse_claim_grants(std::string("sub=a:Reader@/,") + wrong);
    ASSERT_FALSE(grants) << wrong;
    EXPECT_TRUE(grants.error().message.starts_with(std::string("'") + wrong + "' "))
        << grants.error().message;
  }
  std::string many;
  for (std::size_t i = 0; i <= kClaimGrantsMax; ++i) many += "sub=a:Reader@/,";
  EXPECT_FALSE(parse_claim_grants(many));
}

TEST(ClaimGrants, AreGivenToThoseWhoHaveTheValueAndToNobodyElse) {
  const auto grants = parse_claim_grants(
      "groups=ops:Operator@/, groups=dev:Reader@/, sub=ringer:Reader@/subscriptions/x");
  const Principal principal =
      principal_of(claims_with({{"groups", {"ops", "developers"}}, {"sub", {"ringer"}}}), *grants);
  ASSERT_EQ(principal.assignments.size(), 2U);
  EXPECT_EQ(principal.assignments[0].role, Role::operator_);
  EXPECT_EQ(principal.assignments[1].scope.subscription, "x");
  EXPECT_TRUE(principal_of(claims_with({{"roles", {"ops"}}}), *grants).assignments.empty());
}

// A name can be chosen; the id cannot.
TEST(ClaimGrants, ABearerIsKnownByIssuerAndSubject) {
  const Principal named = principal_of(
      claims_with({{"name", {"Ann"}}, {"preferred_username", {std::string(101, 'a')}}}), {});
  EXPECT_EQ(named.kind, PrincipalKind::bearer);
  EXPECT_EQ(named.id, "https://issuer.test/#ringer");
  EXPECT_EQ(named.name, "Ann");
  EXPECT_EQ(principal_of(claims_with({{"client_id", {"ci"}}}), {}).name, "ci");
  EXPECT_EQ(principal_of(claims_with({}), {}).name, "ringer");
}

}  // namespace
}  // namespace belfry
