// SPDX-License-Identifier: MIT

#include "model/secret_mask.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "model/escapes.h"

namespace belfry {
namespace {

SecretMask hiding(std::string_view secret) {
  SecretMask mask;
  mask.add(secret);
  return mask;
}

HttpAction calling() {
  HttpAction action;
  action.uri = "http://target.test/";
  return action;
}

SecretMask mask_of(HttpAction action) {
  JobDefinition definition;
  definition.action.what = std::move(action);
  return SecretMask(definition);
}

SecretMask with_header(std::string name, std::string value) {
  HttpAction action = calling();
  action.secret_headers = {{std::move(name), Secret(std::move(value))}};
  return mask_of(action);
}

TEST(SecretMask, FindsASecretAsItIs) {
  const SecretMask mask = hiding("open sesame");
  EXPECT_EQ(mask.masked("say open sesame, then open sesame"), "say ***, then ***");
  EXPECT_EQ(mask.masked("say nothing"), "say nothing");
  EXPECT_EQ(mask.masked(""), "");
}

TEST(SecretMask, LeavesAloneWhatIsTooShortToBeKnown) {
  EXPECT_TRUE(hiding("12345").empty());
  EXPECT_FALSE(hiding("123456").empty());
  EXPECT_EQ(hiding("12345").masked("12345"), "12345");
}

// A target repeats it within JSON, a query, a form or a page, each in its own way.
TEST(SecretMask, FindsASecretHoweverItIsEscaped) {
  const SecretMask mask = hiding("a\"b\\c/d+e&f \xC3\xA9");
  for (const char* echo : {
           R"({"p":"a\"b\\c/d+e&f é"})",
           R"({"p":"a\"b\\c\/d+e\u0026f \u00e9"})",
           R"({"p":"a\u0022b\u005Cc\u002Fd\u002be\u0026f\u0020\u00E9"})",
           "p=a%22b%5Cc%2Fd%2Be%26f%20%C3%A9;",
           "p=a%22b%5cc%2fd%2be%26f+%c3%a9;",
           "p=a\"b%5cc/d+e&f%20é;",
           "<p>a&quot;b\\c/d+e&amp;f é</p>",
           "<p>a&#34;b\\c&#x2F;d&#43;e&#x26;f &#233;</p>",
           R"({"url":"http:\/\/t\/?p=a%22b%5Cc%2Fd%2Be%26f+%C3%A9"})",
       }) {
    const std::string shown = mask.masked(echo);
    EXPECT_NE(shown.find("***"), std::string::npos) << echo;
    EXPECT_EQ(shown.find('b'), std::string::npos) << shown;
    EXPECT_EQ(shown.front(), echo[0]);
    EXPECT_EQ(shown.back(), std::string_view(echo).back());
  }
}

// Wherever it stands in what was encoded: Basic has a user's name before it.
TEST(SecretMask, FindsASecretInBase64) {
  const std::string secret = "s3cr\xFF\xFE-word";
  const SecretMask mask = hiding(secret);
  for (const std::string before : {"", "u", "us", "use", "user:"}) {
    for (const std::string after : {"", "!", "!!"}) {
      for (const std::string& text :
           {base64_of(before + secret + after), base64url_of(before + secret + after)}) {
        EXPECT_NE(mask.masked("x " + text).find("***"), std::string::npos) << text;
      }
    }
  }
  EXPECT_EQ(mask.masked(base64_of("another, which is none")), base64_of("another, which is none"));
}

TEST(SecretMask, FindsWhatBasicSends) {
  HttpAction action = calling();
  action.authentication = BasicAuthentication{"user", Secret("open sesame")};
  const SecretMask mask = mask_of(action);
  const std::string sent = base64_of("user:open sesame");
  EXPECT_EQ(mask.masked("Authorization: Basic " + sent + "\r\n"), "Authorization: Basic ***\r\n");
  EXPECT_EQ(mask.masked("wrong password: open sesame"), "wrong password: ***");
}

TEST(SecretMask, KnowsTheSecretsOfEveryAction) {
  JobDefinition definition;
  HttpAction http = calling();
  http.authentication = ActiveDirectoryOAuth{"t", "a", "c", Secret("client-secret")};
  definition.action.what = http;
  StorageQueueAction queue;
  queue.sas_token = Secret("?sv=1&sig=abc%2Bdef%3D&sp=a");
  definition.error_action.emplace().what = queue;
  const SecretMask both(definition);
  EXPECT_EQ(both.masked("client-secret"), "***");
  EXPECT_EQ(both.masked("GET /q?sv=1&sig=abc%2Bdef%3D&sp=a"), "GET /q?***");
  EXPECT_EQ(both.masked("signature abc+def= is wrong"), "signature *** is wrong");

  ServiceBusQueueAction bus;
  bus.message.sas_key = Secret("key-of-bus");
  definition.action.what = bus;
  EXPECT_EQ(SecretMask(definition).masked("key-of-bus"), "***");
  ServiceBusTopicAction topic;
  topic.message.sas_key = Secret("key-of-topic");
  definition.action.what = topic;
  EXPECT_EQ(SecretMask(definition).masked("key-of-topic"), "***");
}

TEST(SecretMask, HidesWhatIsInSecretHeaders) {
  EXPECT_EQ(with_header("X-API-Key", "0123456789").masked("key=0123456789"), "key=***");
  EXPECT_EQ(with_header("authorization", "Bearer eyJhbGci").masked("eyJhbGci is no token"),
            "*** is no token");
  EXPECT_EQ(with_header("Authorization", "Basic " + base64_of("u:open sesame"))
                .masked("password open sesame"),
            "password ***");
  EXPECT_EQ(with_header("Cookie", "theme=dark; session=abcdefgh").masked("no session abcdefgh"),
            "no session ***");
}

TEST(SecretMask, KnowsTheHeadersThatAreSecrets) {
  for (const char* name : {"X-API-Key", "authorization", "Proxy-Authorization", "COOKIE"}) {
    EXPECT_TRUE(is_secret_header(name)) << name;
  }
  EXPECT_FALSE(is_secret_header("X-Theme"));
}

// What stands beyond is cut off afterwards: neither a half of a secret is shown, nor what follows.
TEST(SecretMask, ASecretThatBeginsBeforeTheCutIsWhole) {
  const SecretMask mask = hiding("open sesame");
  const std::string text = "say open sesame to the door";
  EXPECT_EQ(mask.masked(text, 3), "say");
  EXPECT_EQ(mask.masked(text, 4), "say ");
  EXPECT_EQ(mask.masked(text, 5), "say ***");
  EXPECT_EQ(mask.masked(text, 15), "say ***");
  EXPECT_EQ(mask.masked(text, 18), "say *** to");
  EXPECT_GE(mask.reach(), 6 * std::string_view("open sesame").size());
}

TEST(SecretMask, TwoThatOverlapAreOne) {
  SecretMask mask = hiding("abcdefgh");
  mask.add("efghijkl");
  EXPECT_EQ(mask.masked("<abcdefghijkl>"), "<***>");
  EXPECT_EQ(mask.masked("<abcdefghabcdefgh>"), "<******>");
}

// A stranger chooses both: a search that takes the product of their lengths would take minutes.
TEST(SecretMask, ASecretLikeTheTextTakesNoLonger) {
  const SecretMask mask = hiding(std::string(16'000, 'a') + "b");
  const std::string text(100'000, 'a');
  EXPECT_EQ(mask.masked(text), text);
}

TEST(Escapes, WhatIsNoEscapeStandsForItself) {
  EXPECT_EQ(unescaped(R"(\q \u12 \)", Escapes::json).text, R"(\q \u12 \)");
  EXPECT_EQ(unescaped("100% %4 %zz", Escapes::percent).text, "100% %4 %zz");
  EXPECT_EQ(unescaped("a & b; &; &#; &#x; &#x110000; &nbsp;", Escapes::xml).text,
            "a & b; &; &#; &#x; &#x110000; &nbsp;");
  EXPECT_EQ(unescaped(R"(\ud83d\udd14)", Escapes::json).text, "\xF0\x9F\x94\x94");
}

// An older version cut bodies without looking for secrets in them.
TEST(SecretMask, WhatACutTextEndsInMayBeTheBeginningOfASecret) {
  SecretMask mask;
  mask.add("open sesame");
  EXPECT_EQ(mask.masked_after_cut("you sent open ses"), "you sent ***");
  EXPECT_EQ(mask.masked_after_cut("open sesame, then ope"), "***, then ***");
  EXPECT_EQ(mask.masked_after_cut("Basic b3BlbiBzZXN"), "Basic ***");
  EXPECT_EQ(mask.masked_after_cut("so"), "so");
  EXPECT_EQ(mask.masked_after_cut("closed"), "closed");
}

// Encoders break lines after 76 letters.
TEST(SecretMask, Base64InLinesIsFound) {
  SecretMask mask;
  mask.add(std::string(100, 'x') + " is secret");
  std::string lines = base64_of(std::string(100, 'x') + " is secret");
  lines.insert(76, "\n");
  EXPECT_EQ(mask.masked("you sent " + lines + " ok").find(lines.substr(0, 40)), std::string::npos);
  lines.replace(76, 1, "\\n");
  EXPECT_EQ(mask.masked("{\"you\":\"" + lines + "\"}").find(lines.substr(0, 40)),
            std::string::npos);
}

TEST(SecretMask, BlanksAroundAHeadersValueAreNoPartOfIt) {
  JobDefinition definition;
  HttpAction action;
  action.secret_headers = {{"X-Api-Key", Secret("  open sesame ")}};
  definition.action.what = action;
  EXPECT_EQ(SecretMask(definition).masked("X-Api-Key: open sesame"), "X-Api-Key: ***");
}

TEST(SecretMask, WhatBasicSendsIsFoundInBase64Too) {
  JobDefinition definition;
  HttpAction action;
  action.authentication = BasicAuthentication{"user", Secret("open sesame")};
  definition.action.what = action;
  const std::string echo = base64_of("Basic " + base64_of("user:open sesame"));
  EXPECT_NE(SecretMask(definition).masked(echo), echo);
}

}  // namespace
}  // namespace belfry
