// SPDX-License-Identifier: MIT

#include "access/jwks_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "access/jwt_test_issuer.h"
#include "access/jwt_verifier.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Publishes its metadata and its keys, or whatever a test wants instead.
class Publisher {
 public:
  Publisher() : target_([this](Conversation& conversation) { serve(conversation); }) {}

  std::string url() const { return fmt::format("http://127.0.0.1:{}", target_.port()); }
  std::string keys_url() const { return url() + "/keys"; }
  int asked() {  // for keys
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  void wait_until_asked(int times) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(was_asked_.wait_for(lock, kPatience, [&] { return asked_ >= times; }));
  }

  void publish(std::string keys) {
    const std::lock_guard lock(mutex_);
    keys_ = std::move(keys);
    up_ = true;
  }
  void break_down() {
    const std::lock_guard lock(mutex_);
    up_ = false;
  }

 private:
  void serve(Conversation& conversation) {
    for (std::string request; !(request = conversation.request()).empty();) {
      const std::lock_guard lock(mutex_);
      if (request.starts_with("GET /.well-known/openid-configuration ")) {
        conversation.answer(fmt::format(R"({{"issuer":"{}","jwks_uri":"{}"}})", url(), keys_url()));
        continue;
      }
      ++asked_;
      was_asked_.notify_all();
      conversation.answer(keys_, up_ ? "HTTP/1.1 200 OK" : "HTTP/1.1 503 Unavailable");
    }
  }

  std::mutex mutex_;
  std::condition_variable was_asked_;
  int asked_ = 0;
  std::string keys_ = jwks_text();
  bool up_ = true;
  ScriptedTarget target_;
};

class JwksCacheTest : public testing::Test {
 protected:
  // Whether the key is among those that come; nothing when none come.
  std::optional<bool> has(std::string_view key_id) {
    std::promise<Result<JwksCache::Keys>> promise;
    cache_->obtain(key_id, [&](const auto& keys) { promise.set_value(keys); });
    const auto keys = promise.get_future().get();
    if (!keys) {
      EXPECT_EQ(keys.error().code, ErrorCode::unavailable);
      return std::nullopt;
    }
    return (*keys)->find(key_id) != nullptr;
  }

  JwksCacheTest() : http_(start_client(local_options())) {
    cache_.emplace(JwksCache::Options{publisher_.url(), publisher_.keys_url(), kPatience}, *http_,
                   clock_);
  }

  VirtualClock clock_{kTokenNow};
  Publisher publisher_;
  std::optional<JwksCache> cache_;
  std::unique_ptr<HttpClient> http_;  // goes first
};

TEST_F(JwksCacheTest, AsksOnceAndKeepsTheAnswer) {
  EXPECT_EQ(has("rsa"), true);
  EXPECT_EQ(has("ec"), true);
  clock_.set(kTokenNow + JwksCache::kFreshFor - kOneTick);
  EXPECT_EQ(has("rsa"), true);
  EXPECT_EQ(publisher_.asked(), 1);
}

// A rotated key is found as soon as a token names it.
TEST_F(JwksCacheTest, AsksAgainForAKeyThatItDoesNotKnow) {
  EXPECT_EQ(has("rsa"), true);
  publisher_.publish(R"({"keys":[)" + TestKey::rsa().jwk("new") + "]}");
  clock_.set(kTokenNow + JwksCache::kAskAgainAfter);
  EXPECT_EQ(has("new"), true);
  EXPECT_EQ(has("rsa"), false) << "withdrawn";
  EXPECT_EQ(publisher_.asked(), 2);
}

// Strangers can name a thousand keys; the issuer is not to suffer for it.
TEST_F(JwksCacheTest, DoesNotAskForEveryKeyThatAStrangerNames) {
  EXPECT_EQ(has("rsa"), true);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(has(fmt::format("stranger{}", i)), false);
  EXPECT_EQ(publisher_.asked(), 1);
  clock_.set(kTokenNow + JwksCache::kAskAgainAfter);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(has(fmt::format("stranger{}", i)), false);
  EXPECT_EQ(publisher_.asked(), 2);
}

TEST_F(JwksCacheTest, RenewsInTimeWithoutLettingAnybodyWait) {
  EXPECT_EQ(has("rsa"), true);
  clock_.set(kTokenNow + JwksCache::kFreshFor);
  EXPECT_EQ(has("rsa"), true);
  publisher_.wait_until_asked(2);
}

TEST_F(JwksCacheTest, UsesOldKeysForADayWhileTheIssuerIsDown) {
  EXPECT_EQ(has("rsa"), true);
  publisher_.break_down();
  clock_.set(kTokenNow + JwksCache::kUsableFor - kOneTick);
  EXPECT_EQ(has("rsa"), true);
  EXPECT_EQ(has("unknown"), false);
  clock_.set(kTokenNow + JwksCache::kUsableFor + minutes{10});
  EXPECT_EQ(has("rsa"), std::nullopt);
}

TEST_F(JwksCacheTest, WaitsLongerAfterEachFailure) {
  publisher_.break_down();
  EXPECT_EQ(has("rsa"), std::nullopt);
  EXPECT_EQ(has("rsa"), std::nullopt);
  EXPECT_EQ(publisher_.asked(), 1);
  Instant now = kTokenNow;
  int asked = 1;
  for (const Ticks pause : {Ticks(seconds{1}), Ticks(seconds{2}), Ticks(seconds{4})}) {
    clock_.set(now + pause - kOneTick);
    EXPECT_EQ(has("rsa"), std::nullopt);
    EXPECT_EQ(publisher_.asked(), asked);
    clock_.set(now += pause);
    EXPECT_EQ(has("rsa"), std::nullopt);
    EXPECT_EQ(publisher_.asked(), ++asked);
  }
  for (int i = 0; i < 30; ++i) {
    clock_.set(now += JwksCache::kBackOffMax);
    EXPECT_EQ(has("rsa"), std::nullopt);
    EXPECT_EQ(publisher_.asked(), ++asked) << "never longer than that";
  }
  publisher_.publish(jwks_text());
  clock_.set(now += JwksCache::kBackOffMax);
  EXPECT_EQ(has("rsa"), true);
}

TEST_F(JwksCacheTest, AsksAlthoughTheClockWasSetBack) {
  EXPECT_EQ(has("rsa"), true);
  clock_.set(kTokenNow - hours{24});
  EXPECT_EQ(has("other"), false);
  EXPECT_EQ(publisher_.asked(), 2);
}

TEST_F(JwksCacheTest, TakesNoAnswerThatIsTooLargeOrNoSet) {
  for (const std::string& answer :
       {std::string(kJwksBytesMax + 1, ' ') + jwks_text(), std::string("<html>"), std::string()}) {
    publisher_.publish(answer);
    clock_.set(clock_.now() + JwksCache::kBackOffMax);
    EXPECT_EQ(has("rsa"), std::nullopt) << answer.substr(0, 20);
  }
}

// The issuer answers only when all of them wait.
TEST(JwksCache, MakesOneRequestHoweverManyWait) {
  std::promise<void> all_wait;
  std::atomic<int> asked = 0;
  const ScriptedTarget issuer([&](Conversation& conversation) {
    conversation.request();
    ++asked;
    all_wait.get_future().wait();
    conversation.answer(jwks_text());
  });
  const VirtualClock clock{kTokenNow};
  const auto http = start_client(local_options());
  JwksCache cache({kTestIssuer, fmt::format("http://127.0.0.1:{}/", issuer.port()), kPatience},
                  *http, clock);
  std::atomic<std::size_t> got = 0;
  std::promise<void> done;
  for (std::size_t i = 0; i < JwksCache::kWaitingMax; ++i) {
    cache.obtain(fmt::format("k{}", i), [&](const Result<JwksCache::Keys>& keys) {
      EXPECT_TRUE(keys);
      if (++got == JwksCache::kWaitingMax) done.set_value();
    });
  }
  bool refused = false;
  cache.obtain("rsa", [&](const Result<JwksCache::Keys>& keys) { refused = !keys; });
  EXPECT_TRUE(refused) << "enough wait for it";
  all_wait.set_value();
  done.get_future().wait();
  EXPECT_EQ(asked, 1);
}

TEST(JwksAddress, IsThatOfTheIssuerItself) {
  const std::string issuer = "https://issuer.test/";
  const auto well = read_jwks_address(
      R"({"issuer":"https://issuer.test/","jwks_uri":"https://keys.test/k"})", issuer);
  ASSERT_TRUE(well);
  EXPECT_EQ(*well, "https://keys.test/k");
  for (const char* wrong :
       {"", "[]", R"({"issuer":"https://issuer.test/"})", R"({"jwks_uri":"https://keys.test/k"})",
        R"({"issuer":"https://issuer.test","jwks_uri":"https://keys.test/k"})",
        R"({"issuer":"https://issuer.test/","jwks_uri":"http://keys.test/k"})",
        R"({"issuer":"https://issuer.test/","jwks_uri":7})",
        R"({"issuer":"https://issuer.test/","issuer":"x","jwks_uri":"https://keys.test/k"})"}) {
    EXPECT_FALSE(read_jwks_address(wrong, issuer)) << wrong;
  }
}

class JwtVerifierTest : public testing::Test {
 protected:
  std::unique_ptr<JwtVerifier> verifier_for(const std::string& issuer, Millis timeout = kPatience) {
    JwtVerifier::Options options;
    options.issuers = {{issuer, ""}};
    return start(std::move(options), timeout);
  }

  std::unique_ptr<JwtVerifier> start(JwtVerifier::Options options, Millis timeout = kPatience) {
    options.audiences = {"https://belfry.test"};
    options.timeout = timeout;
    options.http = local_options();
    auto started = JwtVerifier::start(std::move(options), clock_);
    EXPECT_TRUE(started);
    return *std::move(started);
  }

  static Result<Claims> verified(JwtVerifier& verifier, const std::string& token) {
    std::promise<Result<Claims>> promise;
    verifier.verify(token, [&](Result<Claims> claims) { promise.set_value(std::move(claims)); });
    return promise.get_future().get();
  }

  static std::string token_of(const std::string& issuer) {
    return signed_with(TestKey::rsa(), kRsaHeader,
                       claims_text(fmt::format(R"(,"iss":"{}")", issuer), "iss"));
  }

  VirtualClock clock_{kTokenNow};
};

TEST_F(JwtVerifierTest, FindsTheKeysByAskingTheIssuer) {
  Publisher publisher;
  const auto verifier = verifier_for(publisher.url());
  const auto claims = verified(*verifier, token_of(publisher.url()));
  ASSERT_TRUE(claims) << claims.error().message;
  EXPECT_EQ(claims->subject, "ringer");
}

// One that hangs holds up its own tokens alone.
TEST_F(JwtVerifierTest, KnowsSeveralIssuersByWhatTheTokenClaims) {
  Publisher publisher;
  const ScriptedTarget hanging([](Conversation& conversation) { conversation.hang(); });
  const std::string slow = fmt::format("http://127.0.0.1:{}", hanging.port());
  JwtVerifier::Options options;
  options.issuers = {{slow, ""}, {publisher.url(), publisher.keys_url()}};
  const auto verifier = start(std::move(options));
  verifier->verify(token_of(slow), [](const Result<Claims>&) { FAIL() << "answered"; });
  const auto claims = verified(*verifier, token_of(publisher.url()));
  ASSERT_TRUE(claims) << claims.error().message;
  EXPECT_EQ(claims->issuer, publisher.url());
  verifier->stop();
  EXPECT_TRUE(verified(*verifier, token_of(publisher.url()))) << "its keys are there";
}

TEST_F(JwtVerifierTest, AsksNobodyAboutATokenOfAnIssuerThatWasNotNamed) {
  Publisher publisher;
  const auto verifier = verifier_for(publisher.url());
  EXPECT_FALSE(verified(*verifier, token_of("https://evil.test/")));
  EXPECT_EQ(publisher.asked(), 0);
}

// A client learns nothing that would help to make a better forgery.
TEST_F(JwtVerifierTest, SaysTheSameWhateverIsWrong) {
  Publisher publisher;
  const auto verifier = verifier_for(publisher.url());
  for (const std::string& token :
       {std::string(), std::string("a.b.c"), good_token(), token_of(publisher.url()) + "A"}) {
    const auto claims = verified(*verifier, token);
    ASSERT_FALSE(claims);
    EXPECT_EQ(claims.error().code, ErrorCode::unauthenticated);
    EXPECT_EQ(claims.error().message, "The token is invalid.");
  }
}

TEST_F(JwtVerifierTest, SaysThatTheIssuerIsNotThere) {
  std::string url;
  {
    Publisher gone;
    url = gone.url();
  }
  const auto verifier = verifier_for(url);
  const auto claims = verified(*verifier, token_of(url));
  ASSERT_FALSE(claims);
  EXPECT_EQ(claims.error().code, ErrorCode::unavailable);
}

TEST_F(JwtVerifierTest, DoesNotWaitForeverForAnIssuerThatHangs) {
  const ScriptedTarget hanging([](Conversation& conversation) { conversation.hang(); });
  const std::string url = fmt::format("http://127.0.0.1:{}", hanging.port());
  const auto verifier = verifier_for(url, Millis{50});
  const auto claims = verified(*verifier, token_of(url));
  ASSERT_FALSE(claims);
  EXPECT_EQ(claims.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace belfry
