// SPDX-License-Identifier: MIT

#include "net/http_proxy.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(HttpProxy, ReadsHostPortAndCredentials) {
  const auto plain = HttpProxy::parse("http://Proxy.test:3128");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "proxy.test");
  EXPECT_EQ(plain->port, 3128);
  EXPECT_EQ(plain->authorization, "");
  const auto known = HttpProxy::parse("HTTP://al%40ice:p%3Aw%20d@[::1]:8080/");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->host, "::1");
  EXPECT_EQ(known->port, 8080);
  EXPECT_EQ(known->authorization, "Basic YWxAaWNlOnA6dyBk") << "al@ice:p:w d";
}

TEST(HttpProxy, TakesNothingElse) {
  for (const char* text :
       {"", "proxy.test:3128", "http://proxy.test", "http://:3128", "http://proxy.test:0",
        "http://proxy.test:99999", "https://proxy.test:3128", "socks5://proxy.test:1080",
        "http://proxy.test:3128/path", "http://u:%zz@proxy.test:1", "http://u:%0d%0a@proxy.test:1",
        "http://pro xy:1", "http://u:p@proxy.test:1:2", "http://u:%4@proxy.test:1"}) {
    EXPECT_FALSE(HttpProxy::parse(text)) << text;
  }
}

TEST(HttpProxy, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_proxy_password(""), "");
  EXPECT_EQ(without_proxy_password("http://p.test:1"), "http://p.test:1");
  EXPECT_EQ(without_proxy_password("http://user@p.test:1"), "http://user@p.test:1");
  EXPECT_EQ(without_proxy_password("http://user:sesame@p.test:1/"), "http://user:***@p.test:1/");
  EXPECT_EQ(without_proxy_password("http://user:ses@me@p.test:1"), "http://user:***@p.test:1");
  EXPECT_EQ(without_proxy_password("user:sesame@p.test:1"), "***");
  EXPECT_EQ(without_proxy_password("http://user:sesame@p.test"), "***");
}

TEST(HttpDirectHosts, AreNamesAndWhatIsBelowThemAddressesOrEverything) {
  const auto hosts = HttpDirectHosts::parse({"Intern.test", ".corp.test", "10.0.0.0/8", "::1"});
  ASSERT_TRUE(hosts);
  for (const char* host : {"intern.test", "a.intern.test", "a.b.intern.test", "corp.test",
                           "x.corp.test", "10.1.2.3", "::1"}) {
    EXPECT_TRUE(hosts->contains(host)) << host;
  }
  for (const char* host :
       {"winintern.test", "intern.test.example", "test", "11.1.2.3", "::2", "127.0.0.1", ""}) {
    EXPECT_FALSE(hosts->contains(host)) << host;
  }
  EXPECT_FALSE(HttpDirectHosts::parse({})->contains("intern.test"));
  EXPECT_TRUE(HttpDirectHosts::parse({"*"})->contains("any.test"));
  EXPECT_FALSE(HttpDirectHosts::parse({"a b"}));
  EXPECT_FALSE(HttpDirectHosts::parse({"host:80"}));
}

}  // namespace
}  // namespace belfry
