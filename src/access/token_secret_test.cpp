// SPDX-License-Identifier: MIT

#include "access/token_secret.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

MintedToken minted() {
  auto made = mint_token();
  EXPECT_TRUE(made);
  return *made;
}

TEST(TokenSecret, WhatIsGivenProvesWhatIsKept) {
  const MintedToken token = minted();
  const auto parts = parse_token(token.given.reveal());
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->id, token.kept.id);
  EXPECT_TRUE(proves(parts->secret, token.kept));
}

TEST(TokenSecret, WhatIsKeptDoesNotHoldTheSecret) {
  const MintedToken token = minted();
  const auto parts = parse_token(token.given.reveal());
  ASSERT_TRUE(parts);
  EXPECT_NE(token.kept.secret_hash, parts->secret.reveal());
  EXPECT_FALSE(proves(Secret(token.kept.secret_hash), token.kept));
}

TEST(TokenSecret, NoTwoAreAlike) {
  const MintedToken one = minted();
  const MintedToken other = minted();
  EXPECT_NE(one.kept.id, other.kept.id);
  const auto parts = parse_token(other.given.reveal());
  ASSERT_TRUE(parts);
  EXPECT_FALSE(proves(parts->secret, one.kept));
}

// Every digit counts.
TEST(TokenSecret, ASecretThatDiffersInOneDigitProvesNothing) {
  const MintedToken token = minted();
  const std::string secret = parse_token(token.given.reveal())->secret.reveal();
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::string wrong = secret;
    wrong[i] = wrong[i] == '0' ? '1' : '0';
    EXPECT_FALSE(proves(Secret(wrong), token.kept)) << i;
  }
  EXPECT_FALSE(proves(Secret(""), token.kept));
  EXPECT_FALSE(proves(Secret(secret), Token{}));
}

TEST(TokenSecret, OtherTextsAreNoTokens) {
  const std::string good = minted().given.reveal();
  std::string upper = good;
  upper[8] = 'A';
  for (const std::string& text :
       {std::string(), std::string("belfry_"), good + "0", good.substr(0, good.size() - 1),
        "Belfry_" + good.substr(7), " " + good.substr(1), upper, std::string(100'000, 'a'),
        good.substr(0, 23) + "-" + good.substr(24)}) {
    EXPECT_FALSE(parse_token(text)) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace belfry
