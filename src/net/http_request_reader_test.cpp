// SPDX-License-Identifier: MIT
#include "net/http_request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "net/http_malformed_requests.h"

namespace belfry {
namespace {

using Step = HttpRequestReader::Step;

// What came of some bytes: the requests in their order, and perhaps why it ended.
struct Outcome {
  std::vector<HttpRequestHead> requests;
  int refused = 0;
  std::string why;
  int continues = 0;

  const HttpRequest& only() const {
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_EQ(refused, 0);
    return requests.at(0).request;
  }
};

Step advance(HttpRequestReader& reader, Outcome& outcome) {
  while (true) {
    const Step step = reader.advance();
    if (step == Step::complete) outcome.requests.push_back(reader.take());
    if (step == Step::send_continue) ++outcome.continues;
    if (step == Step::refused) {
      outcome.refused = reader.refusal().status;
      outcome.why = reader.refusal().what;
    }
    if (step == Step::need_bytes || step == Step::refused) return step;
  }
}

Outcome read(std::string_view bytes, std::size_t piece_bytes, const HttpServerLimits& limits = {}) {
  HttpRequestReader reader(limits);
  Outcome outcome;
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::string_view piece = bytes.substr(0, std::min(room.size(), piece_bytes));
    std::copy(piece.begin(), piece.end(), room.begin());
    reader.received(piece.size());
    bytes.remove_prefix(piece.size());
    if (advance(reader, outcome) == Step::refused) break;
  }
  return outcome;
}

constexpr std::size_t kWhole = 1 << 20;

class Malformed : public testing::TestWithParam<MalformedRequest> {};

// The refusal must not depend on where the network happened to cut the bytes.
TEST_P(Malformed, IsRefusedHoweverItIsCut) {
  for (const std::size_t piece_bytes : {kWhole, std::size_t{1}, std::size_t{7}}) {
    const Outcome outcome = read(GetParam().bytes, piece_bytes);
    EXPECT_EQ(outcome.refused, GetParam().status) << "pieces of " << piece_bytes;
    EXPECT_TRUE(outcome.requests.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(HttpRequestReader, Malformed, testing::ValuesIn(kMalformedRequests),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(HttpRequestReader, ReadsARequestWithoutBody) {
  const Outcome outcome =
      read("GET /a?b=c%20d HTTP/1.1\r\nHost: x:80\r\nA:  b c \t\r\n\r\n", kWhole);
  EXPECT_EQ(outcome.only().method, "GET");
  EXPECT_EQ(outcome.only().target, "/a?b=c%20d");
  EXPECT_EQ(outcome.only().body, "");
  const HttpHeaders headers{{"Host", "x:80"}, {"A", "b c"}};
  EXPECT_EQ(outcome.only().headers, headers);
  EXPECT_TRUE(outcome.requests[0].keep_alive);
}

TEST(HttpRequestReader, ReadsEachRequestOfAPipeline) {
  const std::string_view bytes =
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
      "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "2;ext=\"x\"\r\ntw\r\n01\r\no\r\n0\r\nTrailer: t\r\n\r\n"
      "OPTIONS * HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"
      "\r\nGET /4 HTTP/1.0\r\n\r\n";
  for (const std::size_t piece_bytes : {kWhole, std::size_t{1}, std::size_t{5}}) {
    const Outcome outcome = read(bytes, piece_bytes);
    ASSERT_EQ(outcome.requests.size(), 4u);
    EXPECT_EQ(outcome.requests[0].request.body, "one");
    EXPECT_EQ(outcome.requests[1].request.body, "two");
    EXPECT_EQ(outcome.requests[2].request.target, "*");
    EXPECT_EQ(outcome.requests[3].request.target, "/4");
    EXPECT_FALSE(outcome.requests[3].keep_alive);
  }
}

TEST(HttpRequestReader, ObeysTheConnectionHeader) {
  const auto kept = [](std::string_view version, std::string_view connection) {
    const std::string bytes = "GET / " + std::string(version) +
                              "\r\nHost: a\r\nConnection: " + std::string(connection) + "\r\n\r\n";
    return read(bytes, kWhole).requests.at(0).keep_alive;
  };
  EXPECT_TRUE(kept("HTTP/1.1", "keep-alive"));
  EXPECT_FALSE(kept("HTTP/1.1", "close"));
  EXPECT_FALSE(kept("HTTP/1.1", "foo, Close"));
  EXPECT_FALSE(kept("HTTP/1.1", "keep-alive\r\nConnection: close"));
  EXPECT_TRUE(kept("HTTP/1.0", "Keep-Alive"));
  EXPECT_FALSE(kept("HTTP/1.0", "foo"));
}

TEST(HttpRequestReader, AsksForTheBodyOnlyOfAClientThatWaits) {
  const std::string head =
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(read(head, kWhole).continues, 1);
  EXPECT_EQ(read(head + "hi", head.size()).continues, 1);
  EXPECT_EQ(read(head + "hi", head.size()).requests.size(), 1u);
  EXPECT_EQ(read(head + "h", kWhole).continues, 0);
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", kWhole).continues,
            0);
}

HttpServerLimits small_limits() {
  HttpServerLimits limits;
  limits.head_bytes_max = 200;
  limits.target_bytes_max = 50;
  limits.headers_max = 3;
  limits.body_bytes_max = 10;
  return limits;
}

// Whoever is refused has to know how much less to send.
TEST(HttpRequestReader, SaysWhatIsAllowed) {
  const auto why = [](const std::string& rest) {
    return read("PUT /" + rest, kWhole, small_limits()).why;
  };
  const std::string long_text(500, 'x');
  EXPECT_EQ(why(long_text), "The request target is longer than 50 bytes.");
  EXPECT_EQ(why(" HTTP/1.1\r\nA: " + long_text),
            "Request line and headers are larger than 200 bytes.");
  EXPECT_EQ(why(" HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n"),
            "There are 4 headers; at most 3 are allowed.");
  for (const char* framing :
       {"Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\n"}) {
    EXPECT_EQ(why(std::string(" HTTP/1.1\r\nHost: a\r\n") + framing),
              "The body is larger than 10 bytes.");
  }
}

// At the limit a request is served, one beyond it is refused.
TEST(HttpRequestReader, KeepsEachLimitExactly) {
  const HttpServerLimits limits = small_limits();
  const auto status = [&](std::string request) {
    const Outcome whole = read(request, kWhole, limits);
    EXPECT_EQ(read(request, 1, limits).refused, whole.refused);
    return whole.refused;
  };
  const auto get = [](std::size_t target_bytes, std::string_view headers) {
    return "GET /" + std::string(target_bytes - 1, 'x') + " HTTP/1.1\r\nHost: a\r\n" +
           std::string(headers) + "\r\n";
  };
  EXPECT_EQ(status(get(50, "")), 0);
  EXPECT_EQ(status(get(51, "")), 414);
  EXPECT_EQ(status("GET /" + std::string(500, 'x')), 414);
  EXPECT_EQ(status(get(1, "A: 1\r\nB: 2\r\n")), 0);
  EXPECT_EQ(status(get(1, "A: 1\r\nB: 2\r\nC: 3\r\n")), 431);
  const std::size_t padding = 200 - get(1, "A: \r\n").size();
  EXPECT_EQ(status(get(1, "A: " + std::string(padding, 'x') + "\r\n")), 0);
  EXPECT_EQ(status(get(1, "A: " + std::string(padding + 1, 'x') + "\r\n")), 431);
  EXPECT_EQ(status(get(1, "Content-Length: 10\r\n") + "0123456789"), 0);
  EXPECT_EQ(status(get(1, "Content-Length: 11\r\n")), 413);
  const std::string chunked = get(1, "Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(status(chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(status(chunked + "5\r\n01234\r\n6\r\n"), 413);
  EXPECT_EQ(status(chunked + "1;" + std::string(500, 'x')), 400);
  EXPECT_EQ(status(chunked + "0\r\nA: " + std::string(5000, 'x')), 400);
}

TEST(HttpRequestReader, KnowsWhatItWaitsFor) {
  const HttpServerLimits limits;
  HttpRequestReader reader(limits);
  const auto feed = [&](std::string_view bytes) {
    std::copy(bytes.begin(), bytes.end(), reader.room().begin());
    reader.received(bytes.size());
    const Step step = reader.advance();
    return step == Step::head ? reader.advance() : step;
  };
  EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::idle);
  EXPECT_EQ(feed("POST / HT"), Step::need_bytes);
  EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::head);
  EXPECT_EQ(feed("TP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1"), Step::need_bytes);
  EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::body);
  EXPECT_EQ(feed("2"), Step::complete);
  reader.take();
  EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::idle);
}

// However it is cut, what nobody wants of a request does not become the next one.
TEST(HttpRequestReader, ReadsPastABodyThatNobodyWants) {
  const std::string bytes =
      "PUT /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 24\r\n\r\nGET /2 HTTP/1.1\r\nHost: a"
      "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const std::size_t piece_bytes : {kWhole, std::size_t{1}, std::size_t{7}}) {
    const HttpServerLimits limits;
    HttpRequestReader reader(limits);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
      const std::string piece = bytes.substr(at, piece_bytes);
      std::copy(piece.begin(), piece.end(), reader.room().begin());
      reader.received(piece.size());
      Step step = reader.advance();
      for (; step == Step::head; step = reader.advance()) {
        const HttpRequestHead head = reader.take_without_body();
        EXPECT_EQ(head.request.body, "");
        seen.push_back(head.request.target);
      }
      EXPECT_EQ(step, Step::need_bytes);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"/1", "/3"})) << "pieces of " << piece_bytes;
    EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::idle);
  }
}

}  // namespace
}  // namespace belfry
