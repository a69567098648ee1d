// SPDX-License-Identifier: MIT

#include "dispatch/masked_result.h"

#include <gtest/gtest.h>

#include "dispatch/http_messages.h"
#include "model/history.h"

namespace belfry {
namespace {

SecretMask hiding(std::string_view secret) {
  SecretMask mask;
  mask.add(secret);
  return mask;
}

HttpReply masked_reply(std::string header_lines, std::string body) {
  const HttpResult result{HttpReply{500, std::move(header_lines), std::move(body), false}, {}};
  return std::get<HttpReply>(masked(result, hiding("open sesame")).what);
}

TEST(MaskedResult, HeadersAndBodyShowNoSecret) {
  const HttpReply reply =
      masked_reply("X-You-Said: open sesame\r\nDate: today\r\n", R"({"said":"open\u0020sesame"})");
  EXPECT_EQ(reply.header_lines, "X-You-Said: ***\r\nDate: today\r\n");
  EXPECT_EQ(reply.body, R"({"said":"***"})");
  EXPECT_EQ(reply.status, 500);
}

// Its first half would be kept else, and be known for nothing.
TEST(MaskedResult, ASecretAtTheCutShowsNoHalf) {
  for (std::size_t half = 1; half < std::string_view("open sesame").size(); ++half) {
    const std::string filler(kHistoryBodyBytesMax - half, '.');
    const HttpReply reply = masked_reply("", filler + "open sesame, and more");
    EXPECT_EQ(response_message("h", reply), response_message("h", {500, "", filler + "***", {}})
                                                .substr(0, response_message("h", reply).size()));
    EXPECT_EQ(reply.body.find("open"), std::string::npos) << half;
  }
}

TEST(MaskedResult, AFailureShowsNone) {
  const HttpResult result{HttpFailure{HttpFailureKind::protocol, "'open sesame' is no header"}, {}};
  EXPECT_EQ(std::get<HttpFailure>(masked(result, hiding("open sesame")).what).detail,
            "'***' is no header");
}

TEST(MaskedResult, ABrokersWordsShowNeitherKeyNorSignature) {
  const AmqpOutcome outcome = AmqpRefusal{
      "Rejected", "amqp:open sesame", "not SharedAccessSignature sr=x&sig=abcdefgh%3D&se=1&skn=n"};
  const auto refusal = std::get<AmqpRefusal>(masked(outcome, hiding("open sesame")));
  EXPECT_EQ(refusal.condition, "amqp:***");
  EXPECT_EQ(refusal.description, "not SharedAccessSignature sr=x&sig=***&se=1&skn=n");
}

TEST(MaskedResult, WithoutSecretsNothingIsTouched) {
  const HttpResult result{HttpReply{200, "A: b\r\n", std::string(5000, 'x'), true}, Ticks{7}};
  EXPECT_EQ(std::get<HttpReply>(masked(result, SecretMask()).what).body.size(), 5000u);
  EXPECT_EQ(body_kept_for(SecretMask()), 0u);
  EXPECT_GT(body_kept_for(hiding("open sesame")), kHistoryBodyBytesMax);
}

}  // namespace
}  // namespace belfry
