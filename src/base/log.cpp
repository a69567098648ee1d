// SPDX-License-Identifier: MIT

#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace belfry {
namespace {

std::atomic<LogLevel> least_level = LogLevel::info;
std::atomic<LogFormat> line_format = LogFormat::text;

std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

// How many bytes the control character at the beginning of the text has; 0 when there is none.
// Those from U+0080 on have two, and some terminals obey them as well.
std::size_t control_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  return text.size() > 1 && byte(0) == 0xC2 && byte(1) < 0xA0 ? 2 : 0;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  while (!text.empty()) {
    const std::size_t control = control_bytes(text);
    if (control > 0) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[control - 1]));
    } else {
      if (quotes && (text[0] == '"' || text[0] == '\\')) out += '\\';
      out += text[0];
    }
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
}

void append_json_member(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format(",\"{}\":\"", name);
  append_escaped(out, value, true);
  out += '"';
}

}  // namespace

void set_log(LogLevel level, LogFormat format) {
  least_level = level;
  line_format = format;
}

std::string log_line(LogFormat format, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::json) {
    append_json_member(line, "level", name_of(level));
    append_json_member(line, "msg", message);
    for (const auto& [name, value] : fields) append_json_member(line, name, value);
    return line + "}";
  }
  line = fmt::format("{:7} ", name_of(level));
  append_escaped(line, message, false);
  for (const auto& [name, value] : fields) {
    line += fmt::format(" {}=\"", name);
    append_escaped(line, value, true);
    line += '"';
  }
  return line;
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < least_level) return;
  const LogFormat format = line_format;
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::string time = fmt::format("{:%FT%T}Z", now);
  const std::string event = log_line(format, level, message, fields);
  const std::string line = format == LogFormat::json
                               ? fmt::format("{{\"ts\":\"{}\"{}\n", time, event)
                               : fmt::format("{} {}\n", time, event);
  // One write, so that lines of several threads do not mix.
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace belfry
