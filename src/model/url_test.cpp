// SPDX-License-Identifier: MIT

#include "model/url.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(Url, IsTakenApart) {
  const struct {
    const char* text;
    Url url;
  } cases[] = {
      {"http://www.bing.com/", {false, "www.bing.com", 80, "/", "www.bing.com"}},
      {"HTTPS://Example.TEST", {true, "example.test", 443, "/", "example.test"}},
      {"https://h:8443/a%2db?x=1&y=2#part", {true, "h", 8443, "/a%2db?x=1&y=2", "h:8443"}},
      {"http://h?q", {false, "h", 80, "/?q", "h"}},
      {"http://[::1]:8080/x", {false, "::1", 8080, "/x", "[::1]:8080"}},
      {"http://127.0.0.1:7070/healthz", {false, "127.0.0.1", 7070, "/healthz", "127.0.0.1:7070"}},
      {"http://h:/x", {false, "h", 80, "/x", "h:"}},
  };
  for (const auto& one : cases) {
    const auto url = parse_url(one.text);
    ASSERT_TRUE(url) << one.text;
    EXPECT_EQ(*url, one.url) << one.text;
  }
}

TEST(Url, RefusesTheRest) {
  for (const char* text : {"",
                           "h",
                           "ftp://h/",
                           "http:/h",
                           "http://",
                           "http:///x",
                           "http://u:p@h/",
                           "http://h:0/",
                           "http://h:65536/",
                           "http://h:x/",
                           "http://h /",
                           "http://h/a b",
                           "http://h/\n",
                           "http://[::1",
                           "http://[::1]x/",
                           "http://[zz]/",
                           "http://h\x7f/",
                           "http://h\xc3\xbc/",
                           "javascript:alert(1)",
                           "http://h\\@evil/"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
  EXPECT_FALSE(parse_url("http://h/" + std::string(kUrlBytesMax, 'x')));
}

}  // namespace
}  // namespace belfry
