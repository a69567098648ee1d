// SPDX-License-Identifier: MIT

#include "net/amqp_message.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

// The bytes were put together by hand from the standard (OASIS AMQP 1.0, parts 1 and 3).
TEST(AmqpMessage, IsEncodedAsTheStandardSays) {
  AmqpMessage message;
  message.message_id = "id";
  message.body = "ding";
  using namespace std::string_literals;
  EXPECT_EQ(encode_amqp_message(message),
            "\x00\x53\x70\xC0\x02\x01\x41"        // header: durable
            "\x00\x53\x73\xC0\x05\x01\xA1\x02id"  // properties: message-id
            "\x00\x53\x75\xA0\x04"
            "ding"s);  // data
}

TEST(AmqpMessage, GrowsWithWhatIsInIt) {
  AmqpMessage message;
  for (int i = 0; i < 50; ++i) {
    message.properties.emplace_back(std::to_string(i), std::string(1024, 'x'));
  }
  EXPECT_GT(encode_amqp_message(message).size(), 50u * 1024);
}

TEST(AmqpMessage, ReadsTheAnswersOfNodes) {
  AmqpMessage answer;
  answer.correlation_id = "7";
  answer.properties = {{"other", 1.5},
                       {"status-code", std::int64_t{401}},
                       {"status-description", std::string("no")}};
  const AmqpReply reply = decode_amqp_reply(encode_amqp_message(answer));
  EXPECT_EQ(reply.correlation_id, "7");
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.description, "no");
  for (const std::string& bytes : {std::string("not AMQP"), encode_amqp_message({})}) {
    EXPECT_EQ(decode_amqp_reply(bytes).correlation_id, "");
    EXPECT_EQ(decode_amqp_reply(bytes).status, 0);
  }
}

}  // namespace
}  // namespace belfry
