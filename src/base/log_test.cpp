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

// What a terminal would obey: ESC [ and its one-character form, and DEL.
TEST(Log, WhatATerminalObeysComesOutEscapedToo) {
  EXPECT_EQ(log_line(LogFormat::text, LogLevel::info,
                     "\x1B[2J\xC2\x9B"
                     "31m\x7F",
                     {}),
            "info    \\u001b[2J\\u009b31m\\u007f");
  EXPECT_EQ(log_line(LogFormat::text, LogLevel::info, "gr\xC3\xBC\xC3\x9F \xC2\xA9 \xC2", {}),
            "info    gr\xC3\xBC\xC3\x9F \xC2\xA9 \xC2");
}

TEST(Log, JsonIsOneObjectALine) {
  EXPECT_EQ(log_line(LogFormat::json, LogLevel::error, "say \"hi\"", {{"k", "\x01"}}),
            R"(,"level":"error","msg":"say \"hi\"","k":"\u0001"})");
}

}  // namespace
}  // namespace belfry
