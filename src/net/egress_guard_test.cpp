// SPDX-License-Identifier: MIT

#include "net/egress_guard.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

constexpr const char* kForbidden[] = {
    // This network, and what it is taken for: this machine.
    "0.0.0.0", "0.0.0.1", "0.1.2.3", "0.255.255.255",
    // Private.
    "10.0.0.0", "10.0.0.1", "10.1.2.3", "10.127.0.1", "10.255.255.255", "172.16.0.0", "172.16.0.1",
    "172.17.0.1", "172.20.10.5", "172.31.255.255", "192.168.0.0", "192.168.0.1", "192.168.1.254",
    "192.168.255.255",
    // Carriers' share, Alibaba's metadata among it.
    "100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255",
    // Loopback.
    "127.0.0.0", "127.0.0.1", "127.0.0.2", "127.0.1.1", "127.1.1.1", "127.127.127.127",
    "127.255.255.254", "127.255.255.255",
    // Link-local, clouds' metadata among it; Azure's host service.
    "169.254.0.0", "169.254.0.1", "169.254.169.253", "169.254.169.254", "169.254.170.2",
    "169.254.255.255", "168.63.129.16",
    // Reserved, documentation, benchmarks.
    "192.0.0.0", "192.0.0.1", "192.0.0.170", "192.0.0.192", "192.0.0.255", "192.0.2.0", "192.0.2.1",
    "192.0.2.255", "192.88.99.0", "192.88.99.1", "192.88.99.255", "198.18.0.0", "198.18.0.1",
    "198.19.255.255", "198.51.100.0", "198.51.100.7", "198.51.100.255", "203.0.113.0",
    "203.0.113.9", "203.0.113.255",
    // Multicast, reserved, broadcast.
    "224.0.0.0", "224.0.0.1", "224.0.0.251", "232.1.1.1", "239.255.255.250", "239.255.255.255",
    "240.0.0.0", "240.0.0.1", "250.1.2.3", "255.0.0.1", "255.255.255.254", "255.255.255.255",
    // The same ideas in IPv6.
    "::", "::1", "::2", "::7f00:1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001",
    "fe80::", "fe80::1", "fe80::a9fe:a9fe", "febf:ffff::1", "fec0::1", "feff::1",
    "fc00::", "fc00::1", "fd00::1", "fd00:ec2::254", "fd12:3456:789a::1", "fdff:ffff::1", "ff00::1",
    "ff01::1", "ff02::1", "ff02::fb", "ff05::2", "ff0e::1", "ffff::1",
    // IPv4 inside IPv6: mapped and compatible, whatever it carries.
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::FFFF:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1",
    "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:192.168.1.1", "::ffff:0.0.0.0",
    "::ffff:8.8.8.8", "0:0:0:0:0:ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1", "::10.0.0.1",
    "::169.254.169.254", "::8.8.8.8",
    // Translated and tunnelled.
    "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe", "64:ff9b::192.168.0.1", "64:ff9b::0.0.0.0", "64:ff9b::224.0.0.1",
    "64:ff9b::168.63.129.16", "64:ff9b:1::1", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff::8.8.8.8",
    "64:ff9b:0:1::8.8.8.8", "64:ff9b:2::1", "2002:7f00:1::", "2002:7f00:1::1", "2002:a00:1::1",
    "2002:a9fe:a9fe::1", "2002:c0a8:101::1", "2002:ac10:1::1", "2002:6440:1::1", "2002:0:1::1",
    "2002:e000:1::1", "2002:ffff:ffff::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:0:7f00:1::", "2001:0:a00:1:0:0:80ff:fffe",
    // Other corners of the registry.
    "2001:db8::", "2001:db8::1", "2001:db8:ffff::1", "2001:2::1", "2001:10::1", "2001:20::1",
    "2001:30::1", "2001:1ff::1", "3fff::1", "3fff:fff::1", "100::1", "100::", "100:0:0:1::1",
    "200::1", "400::1", "1000::1", "1fff::1", "4000::1", "5f00::1", "8000::1", "a000::1", "e000::1",
    "f000::1", "f800::1", "fe00::1"};

constexpr const char* kAllowed[] = {"1.0.0.0",          "1.1.1.1",
                                    "8.8.8.8",          "9.255.255.255",
                                    "11.0.0.0",         "52.1.2.3",
                                    "100.63.255.255",   "100.128.0.0",
                                    "126.255.255.255",  "128.0.0.1",
                                    "168.63.129.15",    "168.63.129.17",
                                    "169.253.255.255",  "169.255.0.0",
                                    "172.15.255.255",   "172.32.0.0",
                                    "191.255.255.255",  "192.0.1.0",
                                    "192.0.3.0",        "192.31.196.1",
                                    "192.88.98.255",    "192.88.100.0",
                                    "192.167.255.255",  "192.169.0.0",
                                    "198.17.255.255",   "198.20.0.0",
                                    "198.51.99.255",    "198.51.101.0",
                                    "203.0.112.255",    "203.0.114.0",
                                    "223.255.255.255",  "2000::1",
                                    "2001:200::1",      "2001:4860:4860::8888",
                                    "2001:db7::1",      "2001:db9::1",
                                    "2002:808:808::1",  "2003::1",
                                    "2606:4700::1111",  "2a00:1450:4001::1",
                                    "3ffe::1",          "3fff:1000::1",
                                    "64:ff9b::8.8.8.8", "64:ff9b::808:808"};

// Texts that some resolver takes for an address, and hosts with an address in disguise.
constexpr const char* kNumbers[] = {"127.1",
                                    "127.0.1",
                                    "127.0.0.1.",
                                    "127.0.0.01",
                                    "127.0.0.001",
                                    "0127.0.0.1",
                                    "0177.0.0.1",
                                    "0177.1",
                                    "0177.0.0.01",
                                    "0x7f.1",
                                    "0x7f.0.0.1",
                                    "0x7f.0x0.0x0.0x1",
                                    "0x7f000001",
                                    "0X7F000001",
                                    "0X7f.0.0.0X1",
                                    "0x7f.0.0.0x",
                                    "2130706433",
                                    "02130706433",
                                    "017700000001",
                                    "0",
                                    "0.0",
                                    "00",
                                    "0x0",
                                    "1",
                                    "256.256.256.256",
                                    "127.0.0.256",
                                    "127.0.0.1.5",
                                    "1.2.3.4.5",
                                    "3232235777",
                                    "2852039166",
                                    "0xa9fea9fe",
                                    "0xa9.0xfe.0xa9.0xfe",
                                    "0251.0376.0251.0376",
                                    "169.254.43518",
                                    "10.1",
                                    "192.168.257",
                                    "4294967295",
                                    "4294967296",
                                    "99999999999",
                                    "name.1",
                                    "name.0x1",
                                    "1.2.3.4.",
                                    "127.0.0.1..",
                                    "",
                                    "."};

constexpr const char* kNames[] = {"localhost",
                                  "example.com",
                                  "example.com.",
                                  "127.0.0.1.nip.io",
                                  "1.example",
                                  "0x7f.example",
                                  "a",
                                  "x0",
                                  "1a",
                                  "deadbeef",
                                  "127-0-0-1.example"};

IpAddress address(const char* text) {
  const auto parsed = IpAddress::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(IpAddress{});
}

TEST(EgressGuard, ForbidsWhatIsNotPublic) {
  const EgressGuard guard;
  for (const char* text : kForbidden) EXPECT_NE(guard.objection(address(text)), "") << text;
}

TEST(EgressGuard, AllowsWhatIsPublicUpToTheEdges) {
  const EgressGuard guard;
  for (const char* text : kAllowed) EXPECT_EQ(guard.objection(address(text)), "") << text;
}

TEST(EgressGuard, IsTestedByManyAddresses) {
  EXPECT_GE(std::size(kForbidden) + std::size(kAllowed) + std::size(kNumbers), 200u);
}

TEST(EgressGuard, TakesNoOtherSpellingForAnAddress) {
  for (const char* text : kNumbers) EXPECT_FALSE(IpAddress::parse(text)) << text;
  for (const char* text : {"[::1]", "::1%lo", "fe80::1%eth0", " 1.1.1.1", "1.1.1.1 ", "1.1.1.1\n",
                           "::ffff:127.1", "::g", "1:2:3:4:5:6:7:8:9", "١٢٧.0.0.1"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view("127.0.0.1\0.example", 18)));
  EXPECT_FALSE(IpAddress::parse(std::string_view("2::1\0.", 6)));
}

TEST(EgressGuard, KnowsNumbersFromNames) {
  for (const char* text : kNumbers) EXPECT_TRUE(looks_like_number(text)) << text;
  for (const char* text : kNames) EXPECT_FALSE(looks_like_number(text)) << text;
}

TEST(EgressGuard, LetsTheOperatorNameRanges) {
  const EgressGuard guard({.allow_loopback = false,
                           .allowed = {*IpRange::parse("10.1.0.0/16"), *IpRange::parse("fd00::/8"),
                                       *IpRange::parse("192.168.1.7")}});
  for (const char* text : {"10.1.0.0", "10.1.255.255", "fd12::1", "192.168.1.7"}) {
    EXPECT_EQ(guard.objection(address(text)), "") << text;
  }
  for (const char* text : {"10.0.255.255", "10.2.0.0", "fc00::1", "192.168.1.6", "192.168.1.8",
                           "::ffff:10.1.0.1", "2002:a01:1::", "64:ff9b::10.1.0.1", "127.0.0.1"}) {
    EXPECT_NE(guard.objection(address(text)), "") << text;
  }
}

TEST(EgressGuard, LetsLocalModeCallThisMachineAndNothingElse) {
  const EgressGuard guard({.allow_loopback = true, .allowed = {}});
  for (const char* text : {"127.0.0.1", "127.255.255.255", "::1"}) {
    EXPECT_EQ(guard.objection(address(text)), "") << text;
  }
  for (const char* text : {"10.0.0.1", "169.254.169.254", "0.0.0.0", "::", "::ffff:127.0.0.1",
                           "64:ff9b::127.0.0.1", "2002:7f00:1::1"}) {
    EXPECT_NE(guard.objection(address(text)), "") << text;
  }
}

TEST(EgressGuard, ReadsRanges) {
  for (const char* text : {"10.0.0.0/8", "0.0.0.0/0", "::/0", "::1/128", "1.2.3.4", "1.2.3.4/32"}) {
    EXPECT_TRUE(IpRange::parse(text)) << text;
  }
  for (const char* text : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10/8", "10.0.0.0/-1",
                           "10.0.0.0/8x", "10.0.0.0/ 8", "a.b.c.d/8"}) {
    EXPECT_FALSE(IpRange::parse(text)) << text;
  }
}

TEST(EgressGuard, WritesAddressesDown) {
  EXPECT_EQ(address("127.0.0.1").text(), "127.0.0.1");
  EXPECT_EQ(address("0:0:0:0:0:0:0:1").text(), "::1");
}

}  // namespace
}  // namespace belfry
