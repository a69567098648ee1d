// SPDX-License-Identifier: MIT

#include "base/instant.h"

#include <gtest/gtest.h>

#include <string>

#include "base/digits.h"

namespace belfry {
namespace {

// The second that was written last is remembered: another one must not get its text.
TEST(Instant, IsWrittenAsItIsWhateverWasWrittenBefore) {
  const Instant noon{std::chrono::sys_days{std::chrono::year{2016} / 1 / 29} +
                     std::chrono::hours{12}};
  EXPECT_EQ(format_instant(noon), "2016-01-29T12:00:00Z");
  EXPECT_EQ(format_instant(noon + Ticks{1}), "2016-01-29T12:00:00.0000001Z");
  EXPECT_EQ(format_instant(noon + Seconds{1}), "2016-01-29T12:00:01Z");
  EXPECT_EQ(format_instant(noon - Ticks{1}), "2016-01-29T11:59:59.9999999Z");
  EXPECT_EQ(format_instant(noon + std::chrono::days{1}), "2016-01-30T12:00:00Z");
  EXPECT_EQ(format_instant(noon), "2016-01-29T12:00:00Z");
  EXPECT_EQ(format_instant(Instant{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_instant(Instant{} - Ticks{1}), "1969-12-31T23:59:59.9999999Z");
  EXPECT_EQ(format_instant(kFirstInstant), "0001-01-01T00:00:00Z");
  EXPECT_EQ(format_instant(kLastInstant), "9999-12-31T23:59:59.9999999Z");
  EXPECT_EQ(format_instant(kLastInstant).size(), kInstantBytesMax);
}

TEST(Digits, HaveLeadingZerosAndTheirWidth) {
  std::string text;
  append_digits<1>(text, 7);
  append_digits<2>(text, 5);
  append_digits<3>(text, 42);
  append_digits<4>(text, 98'765);
  append_digits<20>(text, 18'446'744'073'709'551'615u);
  append_digits<7>(text, 0);
  EXPECT_EQ(text,
            "7"
            "05"
            "042"
            "8765"
            "18446744073709551615"
            "0000000");
}

}  // namespace
}  // namespace belfry
