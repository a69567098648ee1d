// SPDX-License-Identifier: MIT

#include "api/failed_authentications.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using Fault = AuthenticationFault;

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
const FailedAuthentication kNoToken{Fault::no_token, "", ""};
const FailedAuthentication kUnknown{Fault::unknown_token, "", ""};

TEST(FailedAuthentications, AreAllCountedByTheirReason) {
  FailedAuthentications failures;
  for (int i = 0; i < 5; ++i) failures.note(kNoToken, "192.0.2.1", kNow);
  failures.note(kUnknown, "192.0.2.1", kNow);
  EXPECT_EQ(failures.count(Fault::no_token), 5u);
  EXPECT_EQ(failures.count(Fault::unknown_token), 1u);
  EXPECT_EQ(failures.count(Fault::issuers), 0u);
}

// Whoever tries a million tokens does not fill the disk with it.
TEST(FailedAuthentications, AreLoggedOnceASecondAReason) {
  FailedAuthentications failures;
  EXPECT_TRUE(failures.note(kNoToken, "192.0.2.1", kNow).logged);
  EXPECT_FALSE(failures.note(kNoToken, "192.0.2.2", kNow + Millis{999}).logged);
  EXPECT_TRUE(failures.note(kUnknown, "192.0.2.1", kNow + Millis{999}).logged);
  EXPECT_TRUE(failures.note(kNoToken, "192.0.2.1", kNow + Seconds{1}).logged);
  EXPECT_TRUE(failures.note(kNoToken, "192.0.2.1", kNow).logged) << "the clock was put back";
}

TEST(FailedAuthentications, HaveARowAMinuteAndAddress) {
  FailedAuthentications failures;
  const auto first = failures.note(kUnknown, "192.0.2.1", kNow).row;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, PrincipalKind::unknown);
  EXPECT_EQ(first->principal, "unknown_token");
  EXPECT_EQ(first->address, "192.0.2.1");
  EXPECT_EQ(first->resource, "/belfry");
  EXPECT_FALSE(failures.note(kNoToken, "192.0.2.1", kNow + Seconds{59}).row);
  EXPECT_TRUE(failures.note(kNoToken, "192.0.2.2", kNow + Seconds{59}).row);
  EXPECT_TRUE(failures.note(kNoToken, "192.0.2.1", kNow + Seconds{60}).row);
}

TEST(FailedAuthentications, AreOfATokenThatHasEnded) {
  FailedAuthentications failures;
  const auto row = failures.note({Fault::revoked_token, "1234", "ci"}, "192.0.2.1", kNow).row;
  ASSERT_TRUE(row);
  EXPECT_EQ(row->kind, PrincipalKind::token);
  EXPECT_EQ(row->principal, "ci");
  EXPECT_EQ(row->principal_id, "1234");
  EXPECT_EQ(row->resource, "/belfry/tokens/1234");
}

TEST(FailedAuthentications, OfTooManyAddressesShareARow) {
  FailedAuthentications failures;
  const auto row_of = [&](std::size_t number) {
    return failures.note(kNoToken, "2001:db8:0:" + std::to_string(number) + "::/64", kNow).row;
  };
  for (std::size_t i = 0; i < FailedAuthentications::kAuditedAddressesMax; ++i) {
    EXPECT_TRUE(row_of(i)) << i;
  }
  const auto others = row_of(FailedAuthentications::kAuditedAddressesMax);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->address, "other addresses");
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_FALSE(row_of(5000 + i)) << i;
}

}  // namespace
}  // namespace belfry
