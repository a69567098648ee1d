// SPDX-License-Identifier: MIT

#include "net/http_client_response.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using Step = HttpResponseReader::Step;
using Answering = HttpResponseReader::Answering;

const HttpClientLimits kLimits;

struct Read {
  Step step;
  HttpReply reply;
  HttpFailure failure;
  bool reusable;
};

Read outcome(HttpResponseReader& reader, Step step) {
  const bool reusable = reader.reusable();
  return {step, reader.take_reply(), reader.failure(), reusable};
}

// In pieces of `size`; the connection stays open.
Read read(std::string_view bytes, std::size_t size, Answering answering = Answering::get) {
  HttpResponseReader reader(kLimits, answering);
  Step step = Step::need_bytes;
  for (std::size_t at = 0; at < bytes.size() && step == Step::need_bytes; at += size) {
    step = reader.feed(bytes.substr(at, size));
  }
  return outcome(reader, step);
}

Read read(std::string_view bytes, Answering answering = Answering::get) {
  return read(bytes, bytes.size(), answering);
}

Read read_to_end(std::string_view bytes) {
  HttpResponseReader reader(kLimits, Answering::get);
  Step step = reader.feed(bytes);
  if (step == Step::need_bytes) step = reader.end();
  return outcome(reader, step);
}

TEST(HttpResponse, IsTheSameHoweverItIsCut) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nA:  b \r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nTrailer: t\r\n\r\n";
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const Read whole = read(bytes, size);
    ASSERT_EQ(whole.step, Step::complete) << size;
    EXPECT_EQ(whole.reply.status, 201);
    EXPECT_EQ(whole.reply.body, "hello!");
    EXPECT_EQ(whole.reply.header_lines, "A: b\r\nTransfer-Encoding: chunked\r\n");
    EXPECT_TRUE(whole.reusable);
  }
}

TEST(HttpResponse, EndsWhereItsLengthSays) {
  const Read sized = read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(sized.step, Step::complete);
  EXPECT_EQ(sized.reply.body, "hi");
  EXPECT_TRUE(sized.reusable);
}

TEST(HttpResponse, EndsWithTheConnectionWhenNothingSaysWhere) {
  const Read closed = read_to_end("HTTP/1.0 200 OK\r\n\r\nsome text");
  EXPECT_EQ(closed.step, Step::complete);
  EXPECT_EQ(closed.reply.body, "some text");
  EXPECT_FALSE(closed.reusable);
}

TEST(HttpResponse, HasNoBodyAfterHeadAndNoContent) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", Answering::head).step,
            Step::complete);
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n").step, Step::complete);
  EXPECT_EQ(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n").step, Step::complete);
}

// A second answer on the connection would be taken for the next call's.
TEST(HttpResponse, WithSomethingBehindItIsNotFollowedByAnother) {
  const Read followed = read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK");
  EXPECT_EQ(followed.step, Step::complete);
  EXPECT_FALSE(followed.reusable);
}

TEST(HttpResponse, KeepsTheConnectionOnlyWhereTheServerDoes) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n").reusable);
  EXPECT_FALSE(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").reusable);
  EXPECT_TRUE(
      read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").reusable);
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\n\r\n")
                   .reusable);
}

TEST(HttpResponse, MayEndItsLinesAsOldDevicesDo) {
  const Read old = read("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi");
  EXPECT_EQ(old.step, Step::complete);
  EXPECT_EQ(old.reply.body, "hi");
}

TEST(HttpResponse, KeepsTheBeginningOfABodyAndStopsReadingAtTheLimit) {
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n";
  bytes += std::string(kLimits.body_bytes_max + 1, 'x');
  const Read large = read(bytes, 8192);
  EXPECT_EQ(large.step, Step::complete);
  EXPECT_EQ(large.reply.body, std::string(kLimits.body_kept_bytes_max, 'x'));
  EXPECT_TRUE(large.reply.body_cut);
  EXPECT_FALSE(large.reusable);
}

TEST(HttpResponse, IsRefusedWhenItIsNotHttp) {
  for (const char* bytes :
       {"hello\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 Odd\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: empty\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    const Read malformed = read(bytes);
    EXPECT_EQ(malformed.step, Step::failed) << bytes;
    EXPECT_EQ(malformed.failure.kind, HttpFailureKind::protocol) << bytes;
  }
}

TEST(HttpResponse, HasAHeadOfBoundedSize) {
  const std::string endless = "HTTP/1.1 200 OK\r\nA: " + std::string(kLimits.head_bytes_max, 'a');
  EXPECT_EQ(read(endless, 1000).failure.kind, HttpFailureKind::too_large);
  std::string informational;
  while (informational.size() <= kLimits.head_bytes_max) {
    informational += "HTTP/1.1 102 Processing\r\n\r\n";
  }
  for (const std::size_t size : {std::size_t{1000}, informational.size()}) {
    EXPECT_EQ(read(informational, size).failure.kind, HttpFailureKind::too_large);
  }
}

TEST(HttpResponse, ThatEndsTooSoonIsAFailure) {
  EXPECT_EQ(read_to_end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi").failure.kind,
            HttpFailureKind::closed);
  EXPECT_EQ(read_to_end("HTTP/1.1 200 OK\r\nContent-Le").failure.kind, HttpFailureKind::closed);
  EXPECT_EQ(read_to_end("").failure.kind, HttpFailureKind::closed);
}

TEST(HttpResponse, FindsAHeaderInAnyCase) {
  const Read found = read("HTTP/1.1 200 OK\r\nX-One: 1\r\nx-two:2\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(found.reply.header("x-one"), "1");
  EXPECT_EQ(found.reply.header("X-TWO"), "2");
  EXPECT_EQ(found.reply.header("x-three"), "");
}

}  // namespace
}  // namespace belfry
