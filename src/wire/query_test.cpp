// SPDX-License-Identifier: MIT

#include "wire/query.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(Query, ReadsEscapedNamesAndAnyCase) {
  const auto query =
      parse_query("api-version=2016-03-01&%24top=5&$SKIP=10&$filter=state+eq%20Disabled&other=1");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->api_version, "2016-03-01");
  EXPECT_EQ(query->top, 5u);
  EXPECT_EQ(query->skip, 10u);
  EXPECT_EQ(query->filter, "state eq Disabled");
}

TEST(Query, RefusesWhatIsOutOfRangeOrTwice) {
  for (const char* text : {"$top=0", "$top=101", "$top=-1", "$top=5x", "$top=", "$skip=-1",
                           "$skip=99999999999999999999", "$top=5&$top=6", "a=%zz", "a=%0"}) {
    EXPECT_FALSE(parse_query(text)) << text;
  }
  std::string many;
  for (std::size_t i = 0; i <= kParametersMax; ++i) many += "a=1&";
  EXPECT_FALSE(parse_query(many));
  EXPECT_TRUE(parse_query(""));
}

TEST(ApiVersion, TheThreeOfTheLiveServiceAreKnown) {
  for (const char* version : {"2016-03-01", "2016-01-01", "2014-08-01-PREVIEW"}) {
    Query query;
    query.api_version = version;
    EXPECT_TRUE(known_api_version(query)) << version;
  }
  Query query;
  EXPECT_EQ(known_api_version(query).error().code, ErrorCode::missing_api_version);
  query.api_version = "2015-01-01";
  EXPECT_EQ(known_api_version(query).error().code, ErrorCode::invalid_api_version);
}

TEST(Filter, TakesOneComparisonInAnyCaseAndWithOrWithoutQuotes) {
  EXPECT_EQ(*parse_state_filter("state eq Disabled"), JobState::disabled);
  EXPECT_EQ(*parse_state_filter("  STATE   EQ 'completed' "), JobState::completed);
  EXPECT_EQ(*parse_status_filter("status eq Failed"), HistoryStatus::failed);
  EXPECT_EQ(*parse_status_filter("state eq Completed"), HistoryStatus::completed);
  for (const char* filter :
       {"", "state", "state eq", "state ne Enabled", "status eq Enabled", "state eq Sleeping",
        "state eq Enabled or 1", "state eq 'Enabled", "name eq x"}) {
    EXPECT_FALSE(parse_state_filter(filter)) << filter;
  }
}

}  // namespace
}  // namespace belfry
