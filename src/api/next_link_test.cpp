// SPDX-License-Identifier: MIT

#include "api/next_link.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

HttpRequest asked(HttpHeaders more = {}) {
  HttpRequest request;
  request.target = "/jobs?api-version=2016-03-01&$top=5";
  request.headers = std::move(more);
  request.headers.emplace_back("host", "belfry.test:7070");
  return request;
}

std::string link_of(ClientScheme scheme, const HttpRequest& request) {
  return next_link(scheme, request, {}, "b/c");
}

TEST(NextLink, KeepsWhatTheClientAskedForAndEncodesTheRest) {
  Query query;
  query.api_version = "2016-03-01";
  query.filter = "state eq Enabled";
  EXPECT_EQ(next_link(ClientScheme::http, asked(), query, "b/c"),
            "http://belfry.test:7070/jobs?api-version=2016-03-01&$filter=state%20eq%20Enabled"
            "&$skiptoken=b%2Fc");
}

// A client that followed http from a server that speaks TLS would get nowhere, with its token.
TEST(NextLink, HasTheSchemeThatTheServerSpeaks) {
  EXPECT_EQ(link_of(ClientScheme::http, asked()), "http://belfry.test:7070/jobs?$skiptoken=b%2Fc");
  EXPECT_EQ(link_of(ClientScheme::https, asked()),
            "https://belfry.test:7070/jobs?$skiptoken=b%2Fc");
}

TEST(NextLink, BehindAProxyHasTheSchemeThatTheClientSpoke) {
  const auto scheme = [](HttpHeaders headers) {
    const std::string link = link_of(ClientScheme::behind_proxy, asked(std::move(headers)));
    return link.substr(0, link.find(':'));
  };
  EXPECT_EQ(scheme({}), "https");
  EXPECT_EQ(scheme({{"X-Forwarded-Proto", "https"}}), "https");
  EXPECT_EQ(scheme({{"x-forwarded-proto", "HTTP"}}), "http");
  EXPECT_EQ(scheme({{"X-Forwarded-Proto", "gopher"}}), "https");
}

// Anybody can send the header; only an operator can say that a proxy does.
TEST(NextLink, WithoutAProxyTheHeaderSaysNothing) {
  const HttpRequest request = asked({{"X-Forwarded-Proto", "https"}});
  EXPECT_EQ(link_of(ClientScheme::http, request), "http://belfry.test:7070/jobs?$skiptoken=b%2Fc");
}

}  // namespace
}  // namespace belfry
