// SPDX-License-Identifier: MIT

#include "bench/figures.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(Figures, AreALineForMachinesAndOneForPeople) {
  const Figures figures{
      .what = "herd", .values = {{"jobs", 10000}, {"p50_ms", 0.25}}, .met = false};
  EXPECT_EQ(as_json(figures),
            "{\"bench\":\"belfry\",\"case\":\"herd\",\"jobs\":10000,\"p50_ms\":0.250,"
            "\"met\":false}\n");
  EXPECT_NE(as_line(figures).find("MISSED jobs=10000  p50_ms=0.250"), std::string::npos);
}

TEST(Figures, WithoutATargetNothingIsMetOrMissed) {
  EXPECT_EQ(as_json({.what = "x", .values = {}}), "{\"bench\":\"belfry\",\"case\":\"x\"}\n");
}

TEST(Quantile, IsTheValueThatSoManyDoNotExceed) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

}  // namespace
}  // namespace belfry
