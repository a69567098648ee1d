// SPDX-License-Identifier: MIT
//
// The log: one line an event on standard error, as text for people or JSON for machines.
// Secrets are never given to it. Control characters come out escaped, so that nothing a
// client sends can forge a line. Any thread may call.

#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace belfry {

enum class LogLevel { debug, info, warning, error };
enum class LogFormat { text, json };

void set_log(LogLevel level, LogFormat format);

// A text or a number. JSON has the latter without quotes, so that whoever reads it can compare.
class LogValue {
 public:
  template <typename Text>
  requires std::convertible_to<Text, std::string> LogValue(Text&& text)
      : text_(std::forward<Text>(text)) {}
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) LogValue(Number number)
      : text_(std::to_string(number)), is_number_(true) {}

  const std::string& text() const { return text_; }
  bool is_number() const { return is_number_; }

 private:
  std::string text_;
  bool is_number_ = false;
};

using LogField = std::pair<std::string_view, LogValue>;
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// The line that log() writes, without its time: for tests.
std::string log_line(LogFormat format, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields);

}  // namespace belfry
