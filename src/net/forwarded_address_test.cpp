// SPDX-License-Identifier: MIT

#include "net/forwarded_address.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

std::string address_in(const HttpHeaders& headers) {
  const auto address = forwarded_address(headers);
  return address ? address->text() : "none";
}

std::string address_in(const std::string& value) {
  return address_in({{"X-Forwarded-For", value}});
}

TEST(ForwardedAddress, IsALiteralWithOrWithoutAPort) {
  for (const char* text : {"192.0.2.1", "192.0.2.1:50000", " 192.0.2.1\t", "::ffff:192.0.2.1"}) {
    EXPECT_EQ(address_in(text), "192.0.2.1") << text;
  }
  for (const char* text : {"2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:50000",
                           "2001:DB8:0:0:0:0:0:1", "[2001:0db8::0001]:0"}) {
    EXPECT_EQ(address_in(text), "2001:db8::1") << text;
  }
}

TEST(ForwardedAddress, IsNothingElse) {
  for (const char* text : {"",
                           " ",
                           ",",
                           "192.0.2.1,",
                           "unknown",
                           "_hidden",
                           "client.test",
                           "192.0.2",
                           "192.0.2.1:",
                           "192.0.2.1:x",
                           "192.0.2.1:65536",
                           "192.0.2.1:+1",
                           "192.0.2.1 2",
                           "[192.0.2.1]",
                           "[2001:db8::1",
                           "2001:db8::1]",
                           "[2001:db8::1]50000",
                           "[2001:db8::1]:",
                           "[]",
                           "[",
                           "[fe80::1%eth0]",
                           "\"192.0.2.1\"",
                           "0x7f.1"}) {
    EXPECT_EQ(address_in(text), "none") << text;
  }
  EXPECT_EQ(address_in(HttpHeaders{{"Forwarded", "for=192.0.2.1"}}), "none");
}

// What stands before it came with the request, and anybody may have written it.
TEST(ForwardedAddress, IsTheLastThatWasAdded) {
  EXPECT_EQ(address_in("198.51.100.1, 192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address_in("198.51.100.1, 198.51.100.2, 192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address_in("192.0.2.1, unknown"), "none");
  EXPECT_EQ(address_in(HttpHeaders{{"X-Forwarded-For", "198.51.100.1"},
                                   {"x-forwarded-for", "198.51.100.2,192.0.2.1"},
                                   {"X-Other", "198.51.100.3"}}),
            "192.0.2.1");
}

}  // namespace
}  // namespace belfry
