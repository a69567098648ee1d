// SPDX-License-Identifier: MIT

#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

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

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (quotes && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
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
