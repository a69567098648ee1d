// SPDX-License-Identifier: MIT

#include "dispatch/oauth_tokens.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
const ActiveDirectoryOAuth kWho{"ten/ant", "https://api.test/", "client", Secret("s&cret")};

HttpResult answered(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return {reply, {}};
}

std::string error_of(const HttpResult& result) {
  const auto read = read_oauth_answer("login.test", result, "s&cret");
  return read ? "none" : read.error().message;
}

TEST(OAuthAnswer, HasATokenAndHowLongItIsGood) {
  for (const char* body : {R"({"access_token":"abc","expires_in":3599})",
                           R"({"expires_in":"3599","token_type":"Bearer","access_token":"abc"})"}) {
    const auto read = read_oauth_answer("login.test", answered(200, body), "");
    ASSERT_TRUE(read) << body;
    EXPECT_EQ(read->token, "abc");
    EXPECT_EQ(read->expires_in, Seconds{3599});
  }
}

TEST(OAuthAnswer, MayNotSayHowLongOrSayNonsense) {
  for (const char* more : {"", R"(,"expires_in":-5)", R"(,"expires_in":"soon")",
                           R"(,"expires_in":{})", R"(,"expires_in":1e300)"}) {
    const auto read = read_oauth_answer(
        "login.test", answered(200, std::string(R"({"access_token":"abc")") + more + "}"), "");
    ASSERT_TRUE(read) << more;
    EXPECT_EQ(read->expires_in, Seconds{0}) << more;
  }
}

TEST(OAuthAnswer, OfARefusalIsTheIssuersOwnWords) {
  EXPECT_EQ(error_of(answered(
                401, R"({"error":"invalid_client","error_description":"AADSTS7000215:\r\nno"})")),
            "The access token could not be obtained: 'login.test' answered 'Unauthorized' "
            "invalid_client: AADSTS7000215:  no");
  EXPECT_EQ(error_of(answered(503, "<html>")),
            "The access token could not be obtained: 'login.test' answered 'ServiceUnavailable'");
  EXPECT_EQ(error_of(answered(400, R"({"error":"you sent s&cret"})")),
            "The access token could not be obtained: 'login.test' answered 'BadRequest' you sent "
            "***");
}

// A token with a line break would be a header of its own.
TEST(OAuthAnswer, IsNotUsedUnlessItCanStandInAHeader) {
  for (const char* body : {"", "[]", "{}", R"({"access_token":7})", R"({"access_token":""})",
                           R"({"access_token":"a\r\nHost: b"})", R"({"access_token":"a b"})"}) {
    EXPECT_EQ(error_of(answered(200, body)),
              "The access token could not be obtained: the answer of 'login.test' has no "
              "access_token that can be sent")
        << body;
  }
}

class OAuthTokensTest : public testing::Test {
 protected:
  OAuthTokensTest()
      : issuer_([this](Conversation& conversation) {
          for (std::string request; !(request = conversation.request()).empty();) {
            request_ = request;
            conversation.answer(
                fmt::format(R"({{"access_token":"token{}","expires_in":3600}})", ++asked_));
          }
        }),
        http_(start_client(local_options())),
        tokens_({fmt::format("http://127.0.0.1:{}/{{tenant}}/token", issuer_.port())}, *http_,
                clock_) {}

  Result<std::string> token(const ActiveDirectoryOAuth& who = kWho) {
    std::promise<Result<std::string>> promise;
    EXPECT_TRUE(tokens_.obtain(who, kPatience, [&](const auto& got) { promise.set_value(got); }));
    return promise.get_future().get();
  }

  VirtualClock clock_{kNow};
  std::atomic<int> asked_ = 0;
  std::string request_;
  ScriptedTarget issuer_;
  std::unique_ptr<HttpClient> http_;
  OAuthTokens tokens_;
};

TEST_F(OAuthTokensTest, AreAskedForInTheFormThatIssuersKnow) {
  ASSERT_TRUE(token());
  EXPECT_TRUE(request_.starts_with("POST /ten%2Fant/token HTTP/1.1\r\n")) << request_;
  EXPECT_TRUE(
      request_.ends_with("\r\n\r\ngrant_type=client_credentials&client_id=client"
                         "&client_secret=s%26cret&resource=https%3A%2F%2Fapi.test%2F"))
      << request_;
}

TEST_F(OAuthTokensTest, AreKeptUntilShortlyBeforeTheyExpire) {
  EXPECT_EQ(*token(), "token1");
  clock_.set(kNow + std::chrono::minutes{54});
  EXPECT_EQ(*token(), "token1");
  clock_.set(kNow + std::chrono::minutes{55});
  EXPECT_EQ(*token(), "token2");
}

TEST_F(OAuthTokensTest, BelongToOneTenantAudienceClientAndSecret) {
  EXPECT_EQ(*token(), "token1");
  ActiveDirectoryOAuth other = kWho;
  other.secret = Secret("another");
  EXPECT_EQ(*token(other), "token2");
  other = kWho;
  other.audience = "https://other.test/";
  EXPECT_EQ(*token(other), "token3");
  EXPECT_EQ(*token(), "token1");
}

TEST_F(OAuthTokensTest, ThatATargetRefusedAreForgotten) {
  EXPECT_EQ(*token(), "token1");
  tokens_.forget(kWho, "token0");
  EXPECT_EQ(*token(), "token1") << "another than the one that was refused";
  tokens_.forget(kWho, "token1");
  EXPECT_EQ(*token(), "token2");
}

// The issuer answers only when all of them wait.
TEST(OAuthTokens, AreAskedForOnceHoweverManyWait) {
  std::promise<void> all_wait;
  std::atomic<int> asked = 0;
  const ScriptedTarget issuer([&](Conversation& conversation) {
    conversation.request();
    ++asked;
    all_wait.get_future().wait();
    conversation.answer(R"({"access_token":"token","expires_in":3600})");
  });
  const auto http = start_client(local_options());
  const VirtualClock clock{kNow};
  OAuthTokens tokens({fmt::format("http://127.0.0.1:{}/", issuer.port())}, *http, clock);
  std::atomic<std::size_t> got = 0;
  std::promise<void> done;
  for (std::size_t i = 0; i < OAuthTokens::kWaitingMax; ++i) {
    ASSERT_TRUE(tokens.obtain(kWho, kPatience, [&](const Result<std::string>& token) {
      EXPECT_EQ(*token, "token");
      if (++got == OAuthTokens::kWaitingMax) done.set_value();
    }));
  }
  EXPECT_FALSE(tokens.obtain(kWho, kPatience, [](const auto&) {})) << "enough wait for it";
  all_wait.set_value();
  done.get_future().wait();
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace belfry
