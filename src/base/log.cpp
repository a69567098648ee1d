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

unsigned byte_at(std::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
}

// The code point that the text begins with and how many bytes it takes: 0 where they are not
// UTF-8 (RFC 3629: neither surrogates nor a longer spelling than need be).
struct Decoded {
  unsigned point = 0;
  std::size_t bytes = 0;
};

Decoded decode(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4) return {};
  unsigned point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned next = byte_at(text, i);
    if ((next & 0xC0) != 0x80) return {};
    point = (point << 6) | (next & 0x3F);
  }
  const bool surrogate = 0xD800 <= point && point <= 0xDFFF;
  return point < kLeast[bytes] || surrogate || point > 0x10FFFF ? Decoded{} : Decoded{point, bytes};
}

// What a terminal or a reader of lines may take for more than a letter: the control characters
// of ASCII and of Latin-1, the two line ends of Unicode, and marks that turn the writing around.
bool is_control(unsigned point) {
  return point < 0x20 || (0x7F <= point && point <= 0x9F) || point == 0x2028 || point == 0x2029 ||
         (0x202A <= point && point <= 0x202E) || (0x2066 <= point && point <= 0x2069);
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) {
      out += "\\ufffd";
    } else if (is_control(next.point)) {
      out += fmt::format("\\u{:04x}", next.point);
    } else {
      if (quotes && (next.point == '"' || next.point == '\\')) out += '\\';
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
}

void append_json_member(std::string& out, std::string_view name, const LogValue& value) {
  out += fmt::format(",\"{}\":", name);
  if (value.is_number()) {
    out += value.text();
    return;
  }
  out += '"';
  append_escaped(out, value.text(), true);
  out += '"';
}

// With milliseconds, which fmt's %T leaves out of a point in time.
std::string log_time() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%FT%T}.{:03}Z", second, (now - second).count());
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
    append_json_member(line, "level", std::string(name_of(level)));
    append_json_member(line, "msg", std::string(message));
    for (const auto& [name, value] : fields) append_json_member(line, name, value);
    return line + "}";
  }
  line = fmt::format("{:7} ", name_of(level));
  append_escaped(line, message, false);
  for (const auto& [name, value] : fields) {
    line += fmt::format(" {}=\"", name);
    append_escaped(line, value.text(), true);
    line += '"';
  }
  return line;
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < least_level) return;
  const LogFormat format = line_format;
  const std::string time = log_time();
  const std::string event = log_line(format, level, message, fields);
  const std::string line = format == LogFormat::json
                               ? fmt::format("{{\"ts\":\"{}\"{}\n", time, event)
                               : fmt::format("{} {}\n", time, event);
  // One write, so that lines of several threads do not mix.
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace belfry
