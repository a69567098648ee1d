// SPDX-License-Identifier: MIT

#include "bench/tiny_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "bench/load.h"
#include "bench/sink.h"

namespace belfry {
namespace {

TEST(MessageLength, CountsHeadAndBody) {
  EXPECT_EQ(message_length("GET / HTTP/1.1\r\n\r\n"), 18u);
  EXPECT_EQ(message_length("A\r\ncontent-LENGTH: 2\r\n\r\nokNEXT"), 26u);
  EXPECT_EQ(message_length("A\r\nContent-Length: 3\r\n\r\nok"), 0u);
  EXPECT_EQ(message_length("A\r\nContent-Length: 3\r\n"), 0u);
}

// What is measured with them is only worth something if nothing is lost between the two.
TEST(Sink, CountsEveryRequestOfALoadAndHowLateItCame) {
  Sink sink;
  const std::string request =
      "POST / HTTP/1.1\r\nx-ms-scheduler-expected-execution-time: 2020-01-01T00:00:00.5000000\r\n"
      "Content-Length: 2\r\n\r\n{}";
  const LoadResult result =
      run_load({.port = sink.port(), .connections = 4, .requests = 100, .duration = {}},
               [&](std::int64_t) { return request; });
  EXPECT_EQ(result.answered, 100);
  EXPECT_EQ(result.refused, 0);
  EXPECT_EQ(result.bytes, 100 * static_cast<std::int64_t>(std::string(TinyServer::kOk).size()));
  ASSERT_TRUE(sink.wait_for(100, 60));
  const Arrivals arrivals = sink.take();
  EXPECT_EQ(arrivals.count, 100);
  ASSERT_EQ(arrivals.late_seconds.size(), 100u);
  const double due = 1'577'836'800.5;
  EXPECT_NEAR(arrivals.late_seconds.back(), arrivals.last - due, 1e-3);
  EXPECT_EQ(arrivals.early(), 0);
  EXPECT_EQ(sink.take().count, 0);
}

TEST(Load, CountsRefusalsAndShowsOne) {
  TinyServer server([](const auto&) {}, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  std::thread thread([&] { server.run(); });
  const LoadResult result =
      run_load({.port = server.port(), .connections = 2, .requests = 10, .duration = {}},
               [](std::int64_t) { return request_text("GET", "/", ""); });
  EXPECT_EQ(result.refused, 10);
  EXPECT_TRUE(result.first_refusal.starts_with("HTTP/1.1 503"));
  EXPECT_EQ(ask_once(server.port(), request_text("GET", "/", "")).status, 503);
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace belfry
