// SPDX-License-Identifier: MIT
#include "net/http_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace belfry {
namespace {

std::string render(const HttpResponse& response, std::string_view connection = "") {
  std::string out;
  render_answer_head(response, connection, out);
  return out;
}

TEST(HttpAnswer, IsRenderedWithItsLength) {
  EXPECT_EQ(render({201, {{"A", "b"}}, "hello"}),
            "HTTP/1.1 201 Created\r\nA: b\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(render({200, {}, ""}, "close"),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(render({299, {}, ""}), "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n");
}

// RFC 9110, 8.6: a client may take the length of a 204 for a body that never comes.
TEST(HttpAnswer, HasNoLengthWhereThereCanBeNoBody) {
  EXPECT_EQ(render({204, {}, ""}), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(render({304, {}, ""}), "HTTP/1.1 304 Not Modified\r\n\r\n");
}

// A job's name may become part of a header: it must not become a header of its own.
TEST(HttpAnswer, WithAHeaderThatWouldEndEarlyMayNotBeSent) {
  EXPECT_TRUE(may_be_sent({200, {{"Location", "/a\xc3\xa4 b"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"Location", "/a\r\nSet-Cookie: x"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"Location", "/a\nx"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"Location", std::string("a\0b", 3)}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"A: b\r\nC", "d"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"", "d"}}, ""}));
}

TEST(HttpAnswer, LeavesFramingToTheServer) {
  EXPECT_FALSE(may_be_sent({200, {{"content-length", "5"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"Transfer-Encoding", "chunked"}}, ""}));
  EXPECT_FALSE(may_be_sent({200, {{"Connection", "close"}}, ""}));
  EXPECT_FALSE(may_be_sent({100, {}, ""}));
  EXPECT_FALSE(may_be_sent({600, {}, ""}));
}

TEST(HttpHeaders, AreFoundInAnyCaseTheFirstOneFirst) {
  const HttpHeaders headers{{"A", "1"}, {"x-Name", "2"}, {"X-NAME", "3"}};
  EXPECT_EQ(header_of(headers, "X-Name"), "2");
  EXPECT_EQ(header_of(headers, "X-Nam"), "");
}

}  // namespace
}  // namespace belfry
