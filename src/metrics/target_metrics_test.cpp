// SPDX-License-Identifier: MIT

#include "metrics/target_metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace belfry {
namespace {

std::map<std::string, double> depths_of(const std::vector<TargetLoad>& loads) {
  std::map<std::string, double> depths;
  const Families families = collect_targets(loads);
  for (const auto& metric : families.front().metric) {
    depths[metric.label.front().value] = metric.gauge.value;
  }
  return depths;
}

TEST(TargetMetrics, OnlyQueuesAreNamedAndOnesOfTheSameOriginAreOne) {
  const auto depths = depths_of({{"https", "a.example", 443, 2},
                                 {"https", "a.example", 443, 3},
                                 {"amqps", "a.example", 5671, 7},
                                 {"http", "::1", 8080, 1},
                                 {"https", "idle.example", 443, 0}});
  const std::map<std::string, double> expected{{"https://a.example:443", 5},
                                               {"amqps://a.example:5671", 7},
                                               {"http://[::1]:8080", 1},
                                               {"other", 0}};
  EXPECT_EQ(depths, expected);
}

// Users choose the targets: whatever they do, the page does not grow.
TEST(TargetMetrics, TheLongestQueuesAreNamedAndTheRestIsAddedUp) {
  std::vector<TargetLoad> loads;
  for (std::uint16_t port = 1; port <= 500; ++port) {
    loads.push_back({"http", "t.example", port, port});
  }
  const auto depths = depths_of(loads);
  ASSERT_EQ(depths.size(), kTargetsNamedMax + 1);
  EXPECT_EQ(depths.at("http://t.example:500"), 500);
  EXPECT_EQ(depths.at("http://t.example:481"), 481);
  EXPECT_EQ(depths.at("other"), 480 * 481 / 2);
}

}  // namespace
}  // namespace belfry
