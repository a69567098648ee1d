// SPDX-License-Identifier: MIT
//
// The log: one line an event on standard error, as text for people or JSON for machines.
// Secrets are never given to it. Control characters come out escaped, so that nothing a
// client sends can forge a line. Any thread may call.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace belfry {

enum class LogLevel { debug, info, warning, error };
enum class LogFormat { text, json };

void set_log(LogLevel level, LogFormat format);

using LogField = std::pair<std::string_view, std::string>;
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// The line that log() writes, without its time: for tests.
std::string log_line(LogFormat format, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields);

}  // namespace belfry
