// SPDX-License-Identifier: MIT

#include "wire/json.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <limits>

namespace belfry {
namespace {

namespace json = boost::json;

json::value parsed(std::string_view text) {
  auto value = parse_json(text, JsonDialect::strict);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::value();
}

// Two members of one name: which one would win is a trap, so neither does.
TEST(ParseJson, RefusesAMemberGivenTwiceAtAnyDepth) {
  for (const char* text : {R"({"a":1,"a":2})", R"({"x":{"a":1,"b":2,"a":3}})",
                           R"([{"a":1},{"a":1,"a":2}])", R"({"a":1,"\u0061":2})",
                           R"({"a":{"b":1,"c":2},"a":{"d":3}})", R"({"x":{"a":{},"a":{}}})"}) {
    const auto value = parse_json(text, JsonDialect::strict);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().target, "a") << text;
  }
  EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":{"a":1}})", JsonDialect::strict));
}

TEST(ParseJson, SaysWhereItIsWrong) {
  const auto value = parse_json("{\n  \"a\": 1,\n  oops\n}", JsonDialect::strict);
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("line 3"), std::string::npos) << value.error().message;
}

TEST(ParseJson, RefusesDeepNestingBadUtf8AndLeftovers) {
  EXPECT_TRUE(parse_json(std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']'),
                         JsonDialect::strict));
  EXPECT_FALSE(parse_json(std::string(100'000, '['), JsonDialect::strict));
  EXPECT_FALSE(parse_json("{\"a\":\"\xff\"}", JsonDialect::strict));
  EXPECT_FALSE(parse_json("{} {}", JsonDialect::strict));
  EXPECT_FALSE(parse_json("", JsonDialect::strict));
  EXPECT_FALSE(parse_json("{\"a\":1", JsonDialect::strict));
}

// To the last digit: what is written of it has to read the same again.
TEST(ParseJson, ReadsNumbersExactly) {
  for (const char* text :
       {"0.1", "-0.3", "1234.5678", "9007199254740993.5", "5e-324", "1.7976931348623157E308",
        "-2.2250738585072011e-308", "123456789012345678901234567890", "8.41e+21",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999999990"}) {
    const json::value value = parsed(text);
    ASSERT_TRUE(value.is_double()) << text;
    EXPECT_EQ(value.get_double(), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(parsed(json::serialize(value)), value) << text;
  }
  EXPECT_EQ(parsed("1e999").get_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed("1e-999").get_double(), 0);
}

TEST(ParseJson, CommentsAndTrailingCommasAreForFilesOnly) {
  const char* text = "{\"a\": 1, // one\n}";
  EXPECT_TRUE(parse_json(text, JsonDialect::relaxed));
  EXPECT_FALSE(parse_json(text, JsonDialect::strict));
}

TEST(ObjectReader, NamesWhatNobodyAskedFor) {
  const json::value value = parsed(R"({"known":1,"Typo":2,"nested":{"inner":3,"odd":4}})");
  Reading reading;
  {
    ObjectReader reader(value.get_object(), "properties", reading);
    EXPECT_EQ(reader.integer("KNOWN", 0, 9), 1);
    auto nested = reader.object("nested");
    ASSERT_TRUE(nested);
    EXPECT_EQ(nested->integer("inner", 0, 9), 3);
  }
  EXPECT_EQ(reading.ignored,
            (std::vector<std::string>{"properties.nested.odd", "properties.Typo"}));
  EXPECT_TRUE(reading.errors.empty());
}

TEST(ObjectReader, TheVeryNameGoesBeforeOneThatDiffersByCase) {
  const json::value value = parsed(R"({"NAME":1,"nam":2,"name":3,"Other":4,"OTHER":5})");
  Reading reading;
  {
    ObjectReader reader(value.get_object(), "", reading);
    EXPECT_EQ(reader.integer("name", 0, 9), 3);
    EXPECT_EQ(reader.integer("other", 0, 9), 4);
    EXPECT_EQ(reader.find("names"), nullptr);
  }
  EXPECT_EQ(reading.ignored, (std::vector<std::string>{"NAME", "nam", "OTHER"}));
}

TEST(ObjectReader, AWrongMemberIsNamedWithItsValueAndWhatIsAllowed) {
  const json::value value = parsed(R"({"count":"five","size":12,"flag":1,"text":7,"part":[]})");
  Reading reading;
  ObjectReader reader(value.get_object(), "", reading);
  EXPECT_FALSE(reader.integer("count", 1, 9));
  EXPECT_FALSE(reader.integer("size", 1, 9));
  EXPECT_FALSE(reader.boolean("flag"));
  EXPECT_FALSE(reader.text("text", 10));
  EXPECT_FALSE(reader.object("part"));
  ASSERT_EQ(reading.errors.size(), 5u);
  EXPECT_EQ(reading.errors[0].target, "count");
  EXPECT_EQ(reading.errors[0].message, "must be an integer from 1 to 9; it is \"five\".");
  EXPECT_EQ(reading.errors[1].message, "must be an integer from 1 to 9; it is 12.");
}

TEST(ObjectReader, NullIsAbsentAndIntegersMayBeWrittenAsReals) {
  const json::value value = parsed(R"({"a":null,"b":5.0,"c":5.5,"d":1e300})");
  Reading reading;
  ObjectReader reader(value.get_object(), "", reading);
  EXPECT_FALSE(reader.integer("a", 0, 9));
  EXPECT_TRUE(reading.errors.empty());
  EXPECT_EQ(reader.integer("b", 0, 9), 5);
  EXPECT_FALSE(reader.integer("c", 0, 9));
  EXPECT_FALSE(reader.integer("d", 0, 9));
  EXPECT_EQ(reading.errors.size(), 2u);
}

TEST(Shown, CutsLongValuesBetweenCharacters) {
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  const std::string text = shown(json::value(umlauts));
  EXPECT_LE(text.size(), kShownValueMax + std::string("…").size());
  EXPECT_TRUE(text.ends_with("ü…")) << text;
}

}  // namespace
}  // namespace belfry
