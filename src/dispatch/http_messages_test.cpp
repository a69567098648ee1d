// SPDX-License-Identifier: MIT

#include "dispatch/http_messages.h"

#include <gtest/gtest.h>

#include "model/history.h"

namespace belfry {
namespace {

HttpReply reply(int status, std::string header_lines, std::string body) {
  return {status, std::move(header_lines), std::move(body), false};
}

TEST(HttpMessages, SayWhatATargetAnswered) {
  EXPECT_EQ(response_message("example.com", reply(200, "A: b\r\nC: d\r\n", "hello")),
            "Http Action - Response from host 'example.com': 'OK' Response Headers: "
            "A: b\r\nC: d\r\n Body: hello");
  EXPECT_EQ(response_message("h", reply(503, "", "")),
            "Http Action - Response from host 'h': 'ServiceUnavailable' Response Headers:  Body: ");
}

TEST(HttpMessages, NameStatusesAsDotNetDoes) {
  EXPECT_EQ(status_name(202), "Accepted");
  EXPECT_EQ(status_name(302), "Found");
  EXPECT_EQ(status_name(401), "Unauthorized");
  EXPECT_EQ(status_name(413), "RequestEntityTooLarge");
  EXPECT_EQ(status_name(500), "InternalServerError");
  EXPECT_EQ(status_name(429), "429");
  EXPECT_EQ(status_name(999), "999");
}

TEST(HttpMessages, SayWhyACallFailed) {
  const auto message = [](HttpFailureKind kind, std::string detail) {
    return failure_message("h", {kind, std::move(detail)});
  };
  EXPECT_EQ(message(HttpFailureKind::name_resolution, ""),
            "Http Action - Request to host 'h' failed: NameResolutionFailure "
            "The remote name could not be resolved: 'h'");
  EXPECT_EQ(message(HttpFailureKind::connect, "192.0.2.1: Connection refused"),
            "Http Action - Request to host 'h' failed: ConnectFailure "
            "Unable to connect to the remote server (192.0.2.1: Connection refused)");
  EXPECT_EQ(message(HttpFailureKind::timeout, ""),
            "Http Action - Request to host 'h' failed: Timeout The operation has timed out");
  EXPECT_EQ(message(HttpFailureKind::tls_trust, "the certificate has expired"),
            "Http Action - Request to host 'h' failed: TrustFailure The underlying connection was "
            "closed: Could not establish trust relationship for the SSL/TLS secure channel "
            "(the certificate has expired)");
  EXPECT_EQ(message(HttpFailureKind::forbidden_address, "127.0.0.1 is loopback"),
            "Http Action - Request to host 'h' failed: ConnectFailure Unable to connect to the "
            "remote server: calling its address is not allowed unless the setting "
            "allow-targets of Belfry names it (127.0.0.1 is loopback)");
}

TEST(HttpMessages, AreUtf8WhateverTheTargetSends) {
  EXPECT_EQ(as_utf8("plain"), "plain");
  EXPECT_EQ(as_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x94\x94"), "grüß € 🔔");
  EXPECT_EQ(as_utf8("a\xFF"
                    "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(as_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "written longer than it is";
  EXPECT_EQ(as_utf8("\xED\xA0\x80"
                    "x"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx")
      << "surrogate";
  EXPECT_EQ(as_utf8("\xE2\x82 x"), "\xEF\xBF\xBD x");
  EXPECT_EQ(as_utf8("cut \xE2\x82"), "cut ") << "the limit fell into a character";
  EXPECT_EQ(as_utf8("cut \xF0\x9F\x94"), "cut ");
}

TEST(HttpMessages, AreBounded) {
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "X-Header: value\r\n";
  const std::string message = response_message("h", reply(200, lines, std::string(5000, '\xFF')));
  EXPECT_LE(message.size(), kHistoryMessageBytesMax);
  EXPECT_NE(message.find("value\r\n Body: \xEF\xBF\xBD"), std::string::npos);
}

}  // namespace
}  // namespace belfry
