// SPDX-License-Identifier: MIT

#include "wire/json_writer.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace belfry {
namespace {

TEST(JsonWriter, SeparatesWhatNeedsIt) {
  JsonWriter out;
  out.object([&] {
    out.member("text", "a");
    out.object("empty", [] {});
    out.array("list", [&] {
      out.value(1);
      out.object([&] { out.member("deep", true); });
      out.begin_array();
      out.end_array();
    });
    out.name("nothing");
    out.null();
    out.member("half", 0.5);
    out.name("ready-made");
    out.json("[7]");
  });
  EXPECT_EQ(out.text(), R"({"text":"a","empty":{},"list":[1,{"deep":true},[]],)"
                        R"("nothing":null,"half":5E-1,"ready-made":[7]})");
}

// Every byte, in a name and in a value: another reader reads what was meant.
TEST(JsonWriter, WhatIsWrittenReadsTheSame) {
  std::string every;
  for (int c = 0; c < 0x80; ++c) every += static_cast<char>(c);
  every += "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\x94";
  JsonWriter out;
  out.object([&] { out.member(every, every); });
  const auto read = boost::json::parse(out.text());
  EXPECT_EQ(std::string(read.as_object().begin()->key()), every);
  EXPECT_EQ(std::string(read.at(every).as_string()), every);
}

TEST(JsonWriter, NumbersAreWhole) {
  JsonWriter out;
  out.begin_array();
  out.value(std::int64_t{-9223372036854775807} - 1);
  out.value(std::int64_t{9223372036854775807});
  out.value(0);
  out.end_array();
  EXPECT_EQ(out.text(), "[-9223372036854775808,9223372036854775807,0]");
}

}  // namespace
}  // namespace belfry
