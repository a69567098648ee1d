// SPDX-License-Identifier: MIT

#include "access/jwt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include "access/jwt_test_issuer.h"

namespace belfry {
namespace {

const JwtRules kRules{kTestIssuer, {"https://belfry.test", "belfry"}, "tenant-1"};

const JwtKeys& keys() {
  static const auto parsed = JwtKeys::parse(jwks_text());
  return *parsed;
}

Result<Claims> verified(std::string_view token, Instant now = kTokenNow,
                        const JwtRules& rules = kRules) {
  const auto jwt = read_jwt(token);
  if (!jwt) return jwt.error();
  return verify_jwt(*jwt, keys(), rules, now);
}

// Why a token is refused; "accepted" if it is not.
std::string reason(std::string_view token, Instant now = kTokenNow) {
  const auto claims = verified(token, now);
  if (claims) return "accepted";
  EXPECT_EQ(claims.error().code, ErrorCode::unauthenticated);
  return claims.error().message;
}

std::string rsa_token(std::string_view payload, std::string_view header = kRsaHeader) {
  return signed_with(TestKey::rsa(), header, payload);
}

std::string ec_token(std::string_view payload = claims_text(),
                     std::string_view header = kEcHeader) {
  return signed_with(TestKey::ec(), header, payload);
}

// With `value` for that claim.
std::string token_with(std::string_view name, std::string_view value) {
  return rsa_token(claims_text(fmt::format(R"(,"{}":{})", name, value), name));
}

std::string token_without(std::string_view name) {
  return rsa_token(claims_text("", name));
}

std::string hmac_token(std::string_view header, const std::string& secret) {
  const std::string text = signing_input(header, claims_text());
  unsigned char mac[32];
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, nullptr);
  return text + '.' + base64url_of({reinterpret_cast<const char*>(mac), sizeof mac});
}

const TestKey& stranger() {
  static const TestKey key(EVP_EC_gen("P-256"));
  return key;
}

TEST(Jwt, OfOurIssuerIsAcceptedWithEitherAlgorithm) {
  for (const std::string& token : {good_token(), ec_token()}) {
    const auto claims = verified(token);
    ASSERT_TRUE(claims) << claims.error().message;
    EXPECT_EQ(claims->issuer, kTestIssuer);
    EXPECT_EQ(claims->subject, "ringer");
    EXPECT_EQ(claims->expires, kTokenNow + std::chrono::hours{1});
    EXPECT_TRUE(claims->has("tid", "tenant-1"));
  }
}

// Headers that honest issuers write and that tell nothing we believe.
TEST(Jwt, MayHaveHeadersThatAreNotLookedAt) {
  for (const char* header :
       {R"({"alg":"RS256","kid":"rsa"})",
        R"({"alg":"RS256","kid":"rsa","typ":"application/at+JWT"})",
        R"({"alg":"RS256","kid":"rsa","x5t":"abc","jku":"https://issuer.test/token_keys"})"}) {
    EXPECT_EQ(reason(rsa_token(claims_text(), header)), "accepted") << header;
  }
}

TEST(Jwt, MayNameSeveralAudiences) {
  EXPECT_EQ(reason(token_with("aud", R"(["other","belfry"])")), "accepted");
}

TEST(Jwt, MayBeALittleEarlyOrLateForOurClock) {
  const auto hour = std::chrono::hours{1};
  EXPECT_EQ(reason(good_token(), kTokenNow + hour + kJwtLeeway - kOneTick), "accepted");
  EXPECT_EQ(reason(good_token(), kTokenNow + hour + kJwtLeeway), "it has expired");
  const std::string later = token_with("nbf", std::to_string(seconds_of(kTokenNow) + 60));
  EXPECT_EQ(reason(later), "accepted");
  EXPECT_EQ(reason(later, kTokenNow - kOneTick), "it is not valid yet");
}

TEST(Jwt, NeedsNoTenantWhereNoneIsConfigured) {
  JwtRules rules = kRules;
  rules.tenant.clear();
  EXPECT_TRUE(verified(token_without("tid"), kTokenNow, rules));
}

struct Bad {
  std::string what;
  std::string token;
  std::string reason;
};

std::vector<Bad> malformed_tokens() {
  const std::string good = good_token();
  const std::string head = good.substr(0, good.rfind('.'));
  const std::string three = "it does not have three parts";
  const std::string base64 = "a part is not base64url";
  const std::string header = "the header is not an object of JSON";
  std::string deep =
      R"({"alg":"RS256","kid":"rsa","a":)" + std::string(20, '[') + std::string(20, ']') + "}";
  return {
      {"nothing", "", three},
      {"a word", "token", three},
      {"two parts", head, three},
      {"five parts, as encrypted ones have", good + ".a.b", three},
      {"100 KB", std::string(100'000, 'a'), "it is too large"},
      {"100 KB of a signed token",
       rsa_token(claims_text(",\"x\":\"" + std::string(80'000, 'x') + "\"")), "it is too large"},
      {"empty parts", "..", header},
      {"a blank", good + " ", base64},
      {"a line break", good + "\n", base64},
      {"a NUL", good + std::string(1, '\0'), base64},
      {"padding", good + "==", base64},
      {"the other alphabet", "+/+/." + good.substr(good.find('.') + 1), base64},
      {"a digit too many", head + ".A", base64},
      {"bits that belong to no byte", head + ".AB", base64},
      {"a header that is no JSON", signed_with(TestKey::rsa(), "alg=RS256", claims_text()), header},
      {"a header that is a list", rsa_token(claims_text(), R"(["RS256"])"), header},
      {"a header with a tail", rsa_token(claims_text(), kRsaHeader + "{}"), header},
      {"alg twice", rsa_token(claims_text(), R"({"alg":"none","alg":"RS256","kid":"rsa"})"),
       header},
      {"a deep header", rsa_token(claims_text(), deep), header},
      {"a header that is not UTF-8", rsa_token(claims_text(), "{\"alg\":\"RS256\",\"x\":\"\xff\"}"),
       header},
  };
}

std::vector<Bad> tokens_with_bad_algorithms() {
  const std::string algorithm = "the algorithm is neither RS256 nor ES256";
  const std::string kind = "the key is not for this algorithm";
  const std::string signature = "the signature does not fit";
  std::vector<Bad> out;
  for (const char* none : {R"("none")", R"("None")", R"("NONE")", R"("nOnE")", R"("")", "null",
                           R"(["RS256"])", "256"}) {
    const std::string text =
        signing_input(fmt::format(R"({{"alg":{},"kid":"rsa"}})", none), claims_text());
    out.push_back({fmt::format("alg {} unsigned", none), text + '.', algorithm});
  }
  for (const char* other : {"HS256", "RS384", "RS512", "PS256", "ES384", "EdDSA", "rs256"}) {
    const std::string header = fmt::format(R"({{"alg":"{}","kid":"rsa"}})", other);
    out.push_back({other, rsa_token(claims_text(), header), algorithm});
  }
  const std::string no_alg = R"({"kid":"rsa"})";
  out.push_back({"no alg", rsa_token(claims_text(), no_alg), algorithm});
  const std::string hs256 = R"({"alg":"HS256","kid":"rsa"})";
  out.push_back(
      {"HMAC with the public key", hmac_token(hs256, TestKey::rsa().public_der()), algorithm});
  out.push_back({"HMAC under the name of RS256",
                 hmac_token(kRsaHeader, TestKey::rsa().public_der()), signature});
  out.push_back(
      {"ES256 with an RSA key", rsa_token(claims_text(), R"({"alg":"ES256","kid":"rsa"})"), kind});
  out.push_back(
      {"RS256 with an EC key", ec_token(claims_text(), R"({"alg":"RS256","kid":"ec"})"), kind});
  return out;
}

std::vector<Bad> tokens_with_bad_keys() {
  const std::string unknown = "the issuer has no such key";
  const std::string id = "the key's id is not a text of a sensible length";
  const std::string signature = "the signature does not fit";
  const auto with_kid = [](const std::string& kid) {
    return rsa_token(claims_text(), fmt::format(R"({{"alg":"RS256","kid":{}}})", kid));
  };
  const std::string strangers_jwk =
      R"({"alg":"ES256","kid":"ec","jwk":)" + stranger().jwk("ec") + "}";
  return {
      {"an unknown kid", with_kid(R"("other")"), unknown},
      {"a kid that climbs", with_kid(R"("../../../../dev/null")"), unknown},
      {"a kid for a database", with_kid(R"("rsa' OR '1'='1")"), unknown},
      {"a kid with a NUL", with_kid(R"("rsa\u0000")"), unknown},
      {"a kid in another case", with_kid(R"("RSA")"), unknown},
      {"no kid where there are two keys", rsa_token(claims_text(), R"({"alg":"RS256"})"), unknown},
      {"an empty kid", with_kid(R"("")"), id},
      {"a long kid", with_kid('"' + std::string(257, 'k') + '"'), id},
      {"a number for a kid", with_kid("1"), id},
      {"a list for a kid", with_kid(R"(["rsa"])"), id},
      {"another's key", signed_with(stranger(), kEcHeader, claims_text()), signature},
      {"another's key, embedded", signed_with(stranger(), strangers_jwk, claims_text()), signature},
      {"another's key, at an address",
       signed_with(stranger(), R"({"alg":"ES256","kid":"ec","jku":"https://evil.test/jwks"})",
                   claims_text()),
       signature},
      {"another's certificate",
       signed_with(stranger(), R"({"alg":"ES256","kid":"ec","x5u":"https://evil.test/c.pem"})",
                   claims_text()),
       signature},
      {"critical extensions",
       rsa_token(claims_text(), R"({"alg":"RS256","kid":"rsa","crit":["b64"],"b64":false})"),
       "the header has critical extensions"},
      {"a logout token",
       rsa_token(claims_text(), R"({"alg":"RS256","kid":"rsa","typ":"logout+jwt"})"),
       "it is a token of another type"},
      {"a number for a type", rsa_token(claims_text(), R"({"alg":"RS256","kid":"rsa","typ":1})"),
       "it is a token of another type"},
  };
}

std::vector<Bad> tokens_with_bad_signatures() {
  const std::string signature = "the signature does not fit";
  const std::string good = good_token();
  const std::string head = good.substr(0, good.rfind('.'));
  const std::string ec_text = signing_input(kEcHeader, claims_text());
  const std::string other = token_with("sub", R"("somebody else")");
  std::string flipped = TestKey::rsa().signature(head);
  flipped[100] = static_cast<char>(flipped[100] ^ 1);
  const std::string ec_signature = TestKey::ec().signature(ec_text);
  const std::string zero(32, '\0');
  return {
      {"no signature", head + '.', signature},
      {"another token's signature", head + other.substr(other.rfind('.')), signature},
      {"another token's claims", other.substr(0, other.rfind('.')) + good.substr(good.rfind('.')),
       signature},
      {"one bit", head + '.' + base64url_of(flipped), signature},
      {"a byte more", head + '.' + base64url_of(TestKey::rsa().signature(head) + 'x'), signature},
      {"a byte less", head + '.' + base64url_of(TestKey::rsa().signature(head).substr(1)),
       signature},
      {"ECDSA in ASN.1", ec_text + '.' + base64url_of(TestKey::ec().der_signature(ec_text)),
       signature},
      {"r and s of zero", ec_text + '.' + base64url_of(zero + zero), signature},
      {"r of zero", ec_text + '.' + base64url_of(zero + ec_signature.substr(32)), signature},
      {"s of zero", ec_text + '.' + base64url_of(ec_signature.substr(0, 32) + zero), signature},
      {"r and s as large as can be", ec_text + '.' + base64url_of(std::string(64, '\xff')),
       signature},
      {"s before r",
       ec_text + '.' + base64url_of(ec_signature.substr(32) + ec_signature.substr(0, 32)),
       signature},
      {"a byte more than r and s", ec_text + '.' + base64url_of(ec_signature + 'x'), signature},
  };
}

std::vector<Bad> tokens_with_bad_claims() {
  const std::string claims = "the claims are not an object of JSON";
  const std::string issuer = "it is of another issuer";
  const std::string audience = "it is meant for another audience";
  const std::string audience_type = "aud is neither a text nor a list of texts";
  const std::string tenant = "it is of another tenant";
  const std::string exp = "exp is not a time";
  const std::string nbf = "nbf is not a time";
  const std::string sub = "sub is not a text of a sensible length";
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  return {
      {"claims that are no JSON", rsa_token("sub=ringer"), claims},
      {"claims that are a list", rsa_token("[]"), claims},
      {"no claims", rsa_token(""), claims},
      {"claims with a tail", rsa_token(claims_text() + "x"), claims},
      {"sub twice", rsa_token(claims_text(R"(,"sub":"admin")")), claims},
      {"aud twice, spelt otherwise", rsa_token(claims_text(R"(,"a\u0075d":"belfry")")), claims},
      {"a member twice within", rsa_token(claims_text(R"(,"x":{"y":1,"y":2})")), claims},
      {"deep claims", rsa_token(claims_text(",\"x\":" + deep)), claims},
      {"claims that are not UTF-8", rsa_token(claims_text(",\"x\":\"\xc3\x28\"")), claims},
      {"another issuer", token_with("iss", R"("https://issuer.test.evil.test/")"), issuer},
      {"an issuer without its slash", token_with("iss", R"("https://issuer.test")"), issuer},
      {"an issuer with a NUL", token_with("iss", R"("https://issuer.test/\u0000")"), issuer},
      {"a list of issuers", token_with("iss", R"(["https://issuer.test/"])"), issuer},
      {"no issuer", token_without("iss"), issuer},
      {"another audience", token_with("aud", R"("https://other.test")"), audience},
      {"an audience that only begins like ours", token_with("aud", R"("belfry2")"), audience},
      {"an empty list of audiences", token_with("aud", "[]"), audience},
      {"other audiences", token_with("aud", R"(["a","b"])"), audience},
      {"a number for an audience", token_with("aud", "7"), audience_type},
      {"an object for an audience", token_with("aud", R"({"belfry":true})"), audience_type},
      {"a number among the audiences", token_with("aud", R"(["belfry",7])"), audience_type},
      {"no audience", token_without("aud"), audience_type},
      {"another tenant", token_with("tid", R"("tenant-2")"), tenant},
      {"no tenant", token_without("tid"), tenant},
      {"a list of tenants", token_with("tid", R"(["tenant-1"])"), tenant},
      {"no exp", token_without("exp"), "it has no exp"},
      {"exp long ago", token_with("exp", "1"), "it has expired"},
      {"exp as a text", token_with("exp", R"("99999999999")"), exp},
      {"exp with a fraction", token_with("exp", "99999999999.5"), exp},
      {"exp as a power", token_with("exp", "1e11"), exp},
      {"exp beyond the calendar", token_with("exp", "9223372036854775807"), exp},
      {"exp beyond all numbers", token_with("exp", "99999999999999999999999"), exp},
      {"exp before all time", token_with("exp", "-9223372036854775808"), exp},
      {"exp null", token_with("exp", "null"), exp},
      {"exp true", token_with("exp", "true"), exp},
      {"nbf as a text", token_with("nbf", R"("1")"), nbf},
      {"nbf next year", token_with("nbf", std::to_string(seconds_of(kTokenNow) + 31'536'000)),
       "it is not valid yet"},
      {"no sub", token_without("sub"), sub},
      {"an empty sub", token_with("sub", R"("")"), sub},
      {"a number for a sub", token_with("sub", "7"), sub},
      {"a sub with a NUL", token_with("sub", R"("admin\u0000x")"), sub},
      {"a sub with a line break", token_with("sub", R"("a\nlevel=error")"), sub},
      {"a long sub", token_with("sub", '"' + std::string(257, 's') + '"'), sub},
  };
}

void expect_refused(const std::vector<Bad>& bad) {
  for (const Bad& one : bad) EXPECT_EQ(reason(one.token), one.reason) << one.what;
}

TEST(Jwt, ThatIsNotWellFormedIsRefused) {
  expect_refused(malformed_tokens());
}

TEST(Jwt, CannotChooseItsAlgorithm) {
  expect_refused(tokens_with_bad_algorithms());
}

TEST(Jwt, CannotBringItsOwnKey) {
  expect_refused(tokens_with_bad_keys());
}

TEST(Jwt, WithASignatureThatDoesNotFitIsRefused) {
  expect_refused(tokens_with_bad_signatures());
}

TEST(Jwt, WithClaimsThatAreNotForUsIsRefused) {
  expect_refused(tokens_with_bad_claims());
}

// An issuer is looked for by what the token says of itself, and believed by its signature.
TEST(Jwt, SaysWhoseItClaimsToBe) {
  const auto issuer_of = [](const std::string& token) { return claimed_issuer(*read_jwt(token)); };
  EXPECT_EQ(issuer_of(good_token()), kTestIssuer);
  EXPECT_EQ(issuer_of(token_with("iss", R"("https://evil.test/")")), "https://evil.test/");
  EXPECT_EQ(issuer_of(token_without("iss")), std::nullopt);
  EXPECT_EQ(issuer_of(token_with("iss", "7")), std::nullopt);
  EXPECT_EQ(issuer_of(rsa_token("no JSON")), std::nullopt);
}

TEST(Claims, AreTextsListsOfTextsAndThoseWithin) {
  const auto claims = verified(rsa_token(claims_text(
      R"(,"groups":["a",7,"b","c\u0000"],"realm_access":{"roles":["r"]},"n":1,"name":"\u00e9")")));
  ASSERT_TRUE(claims);
  EXPECT_TRUE(claims->has("groups", "a"));
  EXPECT_TRUE(claims->has("groups", "b"));
  EXPECT_FALSE(claims->has("groups", "c"));
  EXPECT_TRUE(claims->has("realm_access.roles", "r"));
  EXPECT_TRUE(claims->has("name", "é"));
  EXPECT_FALSE(claims->has("n", "1"));
  EXPECT_FALSE(claims->has("roles", "r"));
}

}  // namespace
}  // namespace belfry
