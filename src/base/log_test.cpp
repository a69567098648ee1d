// SPDX-License-Identifier: MIT

#include "base/log.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

// Nothing a client sends may begin a line of its own.
TEST(Log, ControlCharactersComeOutEscaped) {
  const std::string line =
      log_line(LogFormat::text, LogLevel::info, "a\nb", {{"job", "x\r\n2030 error \"forged\""}});
  EXPECT_EQ(line, "info    a\\u000ab job=\"x\\u000d\\u000a2030 error \\\"forged\\\"\"");
}

TEST(Log, JsonIsOneObjectALine) {
  EXPECT_EQ(log_line(LogFormat::json, LogLevel::error, "say \"hi\"", {{"k", "\x01"}}),
            R"(,"level":"error","msg":"say \"hi\"","k":"\u0001"})");
}

}  // namespace
}  // namespace belfry
