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
            "info    gr\xC3\xBC\xC3\x9F \xC2\xA9 \\ufffd");
}

// A terminal takes U+009B for the beginning of a command; U+2028 ends a line for JavaScript; a
// mark that turns the writing around makes a line read as another.
TEST(Log, ControlCharactersBeyondAsciiComeOutEscapedToo) {
  EXPECT_EQ(log_line(LogFormat::text, LogLevel::info,
                     "\xC2\x9B"
                     "31m \xE2\x80\xA8 \xE2\x80\xAE",
                     {}),
            "info    \\u009b31m \\u2028 \\u202e");
}

// A parser would refuse the line, and an event be lost.
TEST(Log, WhatIsNotUtf8IsReplaced) {
  const auto shown = [](std::string_view text) {
    return log_line(LogFormat::json, LogLevel::info, text, {});
  };
  const auto line = [](const std::string& text) {
    return R"(,"level":"info","msg":")" + text + "\"}";
  };
  EXPECT_EQ(shown("gr\xC3\xBC\xC3\x9F \xE6\x97\xA5 \xF0\x9F\x94\x94"),
            line("gr\xC3\xBC\xC3\x9F \xE6\x97\xA5 \xF0\x9F\x94\x94"));
  EXPECT_EQ(shown("\xFC!"), line("\\ufffd!"));                      // Latin-1
  EXPECT_EQ(shown("\xE6\x97"), line("\\ufffd\\ufffd"));             // cut off
  EXPECT_EQ(shown("\xC0\x8A"), line("\\ufffd\\ufffd"));             // a longer "\n"
  EXPECT_EQ(shown("\xED\xA0\x80"), line("\\ufffd\\ufffd\\ufffd"));  // a surrogate
}

TEST(Log, JsonIsOneObjectALine) {
  EXPECT_EQ(log_line(LogFormat::json, LogLevel::error, "say \"hi\"", {{"k", "\x01"}}),
            R"(,"level":"error","msg":"say \"hi\"","k":"\u0001"})");
}

// "9" > "10", and no query of a log store adds texts up.
TEST(Log, NumbersAreNumbersInJson) {
  const auto line = [](LogFormat format) {
    return log_line(format, LogLevel::info, "m", {{"retry", 2}, {"took_ms", -15LL}, {"id", "7"}});
  };
  EXPECT_EQ(line(LogFormat::json),
            R"(,"level":"info","msg":"m","retry":2,"took_ms":-15,"id":"7"})");
  EXPECT_EQ(line(LogFormat::text), R"(info    m retry="2" took_ms="-15" id="7")");
}

}  // namespace
}  // namespace belfry
