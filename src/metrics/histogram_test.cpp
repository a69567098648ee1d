// SPDX-License-Identifier: MIT

#include "metrics/histogram.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Histogram, ABoundBelongsToItsBucketAndWhatIsLongerHasOneOfItsOwn) {
  Histogram histogram({milliseconds{1}, milliseconds{10}});
  histogram.observe(Ticks{0});
  histogram.observe(milliseconds{1});
  histogram.observe(milliseconds{1} + kOneTick);
  histogram.observe(milliseconds{10});
  histogram.observe(seconds{5});
  const Histogram::Reading reading = histogram.read();
  EXPECT_EQ(reading.counts, (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_EQ(reading.sum, milliseconds{1 + 1 + 10 + 5000} + kOneTick);
}

// A clock that was put back makes an end earlier than its beginning: the sum must not fall.
TEST(Histogram, LessThanNothingIsNothing) {
  Histogram histogram({milliseconds{1}});
  histogram.observe(-seconds{3});
  EXPECT_EQ(histogram.read().counts, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(histogram.read().sum, Ticks{0});
}

}  // namespace
}  // namespace belfry
