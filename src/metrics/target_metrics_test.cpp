// SPDX-License-Identifier: MIT

#include "metrics/target_metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace belfry {
namespace {

std::map<std::string, double> depths_of(const std::vector<HttpOriginLoad>& loads) {
  std::map<std::string, double> depths;
  const Families families = collect_targets(loads);
  for (const auto& metric : families.front().metric) {
    depths[metric.label.front().value] = metric.gauge.value;
  }
  return depths;
}

TEST(TargetMetrics, OnlyQueuesAreNamedAndOnesOfTheSameOriginAreOne) {
  const auto depths = depths_of({{{true, "a.example", 443}, 66, 2},
                                 {{true, "a.example", 443}, 67, 3},
                                 {{false, "::1", 8080}, 65, 1},
                                 {{true, "idle.example", 443}, 5, 0}});
  const std::map<std::string, double> expected{
      {"https://a.example:443", 5}, {"http://[::1]:8080", 1}, {"other", 0}};
  EXPECT_EQ(depths, expected);
}

// Users choose the targets: whatever they do, the page does not grow.
TEST(TargetMetrics, TheLongestQueuesAreNamedAndTheRestIsAddedUp) {
  std::vector<HttpOriginLoad> loads;
  for (std::uint16_t port = 1; port <= 500; ++port) {
    loads.push_back({{false, "t.example", port}, 1000, port});
  }
  const auto depths = depths_of(loads);
  ASSERT_EQ(depths.size(), kTargetsNamedMax + 1);
  EXPECT_EQ(depths.at("http://t.example:500"), 500);
  EXPECT_EQ(depths.at("http://t.example:481"), 481);
  EXPECT_EQ(depths.at("other"), 480 * 481 / 2);
}

}  // namespace
}  // namespace belfry
