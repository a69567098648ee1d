// SPDX-License-Identifier: MIT

#include "access/jwks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "access/jwt_test_issuer.h"

namespace belfry {
namespace {

std::string set_of(const std::string& keys) {
  return R"({"keys":[)" + keys + "]}";
}

std::size_t usable(const std::string& jwk) {
  const auto keys = JwtKeys::parse(set_of(jwk));
  return keys ? keys->size() : 0;
}

std::string rsa_with(const std::string& more) {
  return "{" + TestKey::rsa().members() + more + "}";
}

TEST(JwtKeys, KnowTheAlgorithmTheyAreFor) {
  const auto keys = JwtKeys::parse(jwks_text());
  ASSERT_TRUE(keys);
  ASSERT_NE(keys->find("rsa"), nullptr);
  ASSERT_NE(keys->find("ec"), nullptr);
  EXPECT_EQ(keys->find("rsa")->algorithm, JwtAlgorithm::rs256);
  EXPECT_EQ(keys->find("ec")->algorithm, JwtAlgorithm::es256);
  EXPECT_EQ(keys->find("RSA"), nullptr);
  EXPECT_EQ(keys->find(""), nullptr) << "there are two";
}

TEST(JwtKeys, ThatAreAloneNeedNoId) {
  const auto keys = JwtKeys::parse(set_of(rsa_with("")));
  ASSERT_TRUE(keys);
  EXPECT_NE(keys->find(""), nullptr);
}

TEST(JwtKeys, AreLeftOutWhenTheyAreForSomethingElse) {
  EXPECT_EQ(usable(rsa_with(R"(,"use":"sig","alg":"RS256","kid":"a")")), 1U);
  for (const char* more : {R"(,"use":"enc")", R"(,"alg":"RS512")", R"(,"alg":"ES256")",
                           R"(,"use":1)", R"(,"alg":null)"}) {
    EXPECT_EQ(usable(rsa_with(more)), 0U) << more;
  }
}

TEST(JwtKeys, AreLeftOutWhenTheyAreNotSound) {
  const TestKey short_key(EVP_RSA_gen(1024));
  const std::string ones = base64url_of(std::string(32, '\x01'));
  const std::string huge = base64url_of(std::string(kRsaBitsMax / 8 + 1, '\xff'));
  const std::string modulus = base64url_of(std::string(256, '\xff'));
  for (const std::string& jwk : {
           "{" + short_key.members() + "}",
           std::string("7"),
           std::string("{}"),
           std::string(R"({"kty":"oct","k":"AAAA"})"),
           std::string(R"({"kty":"RSA"})"),
           fmt::format(R"({{"kty":"RSA","n":"{}","e":"AQAB"}})", huge),
           fmt::format(R"({{"kty":"RSA","n":"{}","e":"{}"}})", modulus, modulus),
           fmt::format(R"({{"kty":"RSA","n":"{}=","e":"AQAB"}})", modulus),
           fmt::format(R"({{"kty":"EC","crv":"P-256","x":"{0}","y":"{0}"}})", ones),
           fmt::format(R"({{"kty":"EC","crv":"P-521","x":"{0}","y":"{0}"}})", ones),
           std::string(R"({"kty":"EC","crv":"P-256","x":"AA","y":"AA"})"),
           std::string(R"({"kty":"EC","crv":"P-256","x":7,"y":8})"),
       }) {
    EXPECT_EQ(usable(jwk), 0U) << jwk;
    EXPECT_EQ(usable(jwk + "," + TestKey::ec().jwk("ec")), 1U) << "spoils no other";
  }
}

TEST(JwtKeys, AreNotReadFromWhatIsNoSet) {
  std::string many = TestKey::ec().jwk("k");
  for (std::size_t i = 0; i < kJwksKeysMax; ++i) many += ",{}";
  for (const std::string& text : {std::string(), std::string("<html>"), std::string("[]"),
                                  std::string("{}"), std::string(R"({"keys":{}})"), set_of(""),
                                  set_of(many), std::string(kJwksBytesMax, ' ') + jwks_text(),
                                  R"({"keys":[],"keys":[)" + TestKey::ec().jwk("k") + "]}"}) {
    EXPECT_FALSE(JwtKeys::parse(text)) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace belfry
