// SPDX-License-Identifier: MIT

#include "wire/resource_path.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

const std::string kGroup = "/subscriptions/S1/resourceGroups/rg/providers/Microsoft.Scheduler";

TEST(ResourcePath, EveryShapeIsKnown) {
  const std::pair<std::string, Resource> cases[] = {
      {"/subscriptions/S1/providers/Microsoft.Scheduler", Resource::provider},
      {"/subscriptions/S1/providers/Microsoft.Scheduler/jobCollections",
       Resource::collections_of_subscription},
      {kGroup + "/jobCollections", Resource::collections_of_group},
      {kGroup + "/jobCollections/jc", Resource::collection},
      {kGroup + "/jobCollections/jc/", Resource::collection},
      {kGroup + "/jobCollections/jc/enable", Resource::collection_enable},
      {kGroup + "/jobCollections/jc/disable", Resource::collection_disable},
      {kGroup + "/jobCollections/jc/jobs/j/enable", Resource::job_enable},
      {kGroup + "/jobCollections/jc/jobs/j/disable", Resource::job_disable},
      {kGroup + "/jobCollections/jc/jobs", Resource::jobs},
      {kGroup + "/jobCollections/jc/jobs/j1", Resource::job},
      {kGroup + "/jobCollections/jc/jobs/j1/run", Resource::job_run},
      {kGroup + "/jobCollections/jc/jobs/j1/preflight", Resource::job_preflight},
      {kGroup + "/jobCollections/jc/jobs/j1/history", Resource::job_history},
      {"/SUBSCRIPTIONS/S1/RESOURCEgroups/rg/PROVIDERS/microsoft.scheduler/JOBcollections/jc",
       Resource::collection},
  };
  for (const auto& [path, resource] : cases) {
    const auto parsed = parse_resource_path(path);
    ASSERT_TRUE(parsed) << path << ": " << parsed.error().message;
    EXPECT_EQ(parsed->resource, resource) << path;
  }
}

TEST(ResourcePath, NamesAreDecodedAndKeepTheirSpelling) {
  const auto parsed = parse_resource_path(kGroup + "/jobCollections/My%2DColl/jobs/Job%5F1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->key.collection.name, "My-Coll");
  EXPECT_EQ(parsed->key.name, "Job_1");
  EXPECT_EQ(job_id(parsed->key), kGroup + "/jobCollections/My-Coll/jobs/Job_1");
}

TEST(ResourcePath, WhatLeadsNowhereIsNotFound) {
  for (const std::string& path :
       {std::string(""), std::string("/"), std::string("x"), std::string("/subscriptions"), kGroup,
        kGroup + "/jobs", kGroup + "/jobCollections//jobs",
        kGroup + "/jobCollections/jc/jobs/j/history/1", kGroup + "/jobCollections/jc/nothing",
        kGroup + "/jobCollections/jc%", kGroup + "/jobCollections/jc%0", kGroup + "/%00",
        std::string("/subscriptions/S1/providers/Microsoft.Scheduler/jobCollections/jc"),
        std::string(5000, '/')}) {
    const auto parsed = parse_resource_path(path);
    ASSERT_FALSE(parsed) << path;
    EXPECT_EQ(parsed.error().code, ErrorCode::no_such_route) << path;
  }
}

// Whoever sends thousands of slashes is not given thousands of strings.
TEST(ResourcePath, APathHasABoundedNumberOfSegments) {
  const auto refusal = [](std::size_t segments) {
    std::string path;
    for (std::size_t i = 0; i < segments; ++i) path += "/s";
    return parse_resource_path(path).error();
  };
  EXPECT_EQ(refusal(17).code, ErrorCode::no_such_route);
  EXPECT_EQ(refusal(17).message,
            "Nothing is served at a path of 17 segments; none has more than 16.");
  EXPECT_NE(refusal(16).message.find("Nothing is served at '/s/s"), std::string::npos);
}

// The end of it is what was mistyped.
TEST(ResourcePath, ALongPathThatIsNotServedIsShownByItsEnd) {
  const std::string path = "/" + std::string(300, 'a') + "/jobz";
  const std::string message = parse_resource_path(path).error().message;
  EXPECT_NE(message.find("Nothing is served at '…aaa"), std::string::npos) << message;
  EXPECT_NE(message.find("aaa/jobz'"), std::string::npos) << message;
}

TEST(ResourcePath, BadNamesAreRefusedWithTheirRule) {
  for (const std::string& path :
       {kGroup + "/jobCollections/1jc", kGroup + "/jobCollections/j%20c",
        kGroup + "/jobCollections/" + std::string(101, 'a'), kGroup + "/jobCollections/a%2Fb",
        kGroup + "/jobCollections/jc/jobs/-x", kGroup + "/jobCollections/jc/jobs/%C3%BC",
        kGroup + "/jobCollections/jc/jobs/..",
        std::string("/subscriptions/a%0Ab/providers/Microsoft.Scheduler")}) {
    const auto parsed = parse_resource_path(path);
    ASSERT_FALSE(parsed) << path;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid) << path;
    EXPECT_NE(parsed.error().message.find("must be"), std::string::npos);
  }
}

// A group may begin with a mark; the rest of its name is judged all the same. A slash in it would
// make it look like somebody else's collection.
TEST(ResourcePath, AGroupThatBeginsWithAMarkIsJudgedWhole) {
  const auto judged = [](const std::string& group) {
    return parse_resource_path("/subscriptions/s/resourceGroups/" + group +
                               "/providers/Microsoft.Scheduler/jobCollections");
  };
  for (const char* good : {"(g)", "_g", "-g", ")"}) EXPECT_TRUE(judged(good)) << good;
  for (const char* bad : {"(g%2Fh", "_%01", "-g%20", "(%C3%BC", ".g"}) {
    EXPECT_FALSE(judged(bad)) << bad;
  }
}

}  // namespace
}  // namespace belfry
