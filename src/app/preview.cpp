// SPDX-License-Identifier: MIT

#include "app/preview.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "recurrence/next_occurrence.h"
#include "recurrence/timing_rules.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

std::string line_of(const Error& error, const std::string& path) {
  if (error.target.empty()) return error.message + "\n";
  return fmt::format("{}{}: {}\n", path, error.target, error.message);
}

std::string as_lines(const std::vector<Instant>& occurrences) {
  std::string lines;
  for (const Instant occurrence : occurrences) lines += format_instant(occurrence) + "\n";
  return lines;
}

std::string as_json(const std::vector<Instant>& occurrences) {
  boost::json::array array;
  for (const Instant occurrence : occurrences) array.push_back(format_instant(occurrence).c_str());
  return boost::json::serialize(array) + "\n";
}

}  // namespace

PreviewAnswer preview(const std::string& text, const PreviewOptions& options) {
  PreviewAnswer answer;
  const TimingFile file = read_timing_file(text);
  for (const Error& error : file.errors) answer.complaints += line_of(error, "");
  if (!file.errors.empty()) return answer;
  for (const Error& error : broken_timing_rules(file.timing, options.now)) {
    answer.complaints += line_of(error, file.path);
  }
  if (!answer.complaints.empty()) return answer;

  for (const std::string& name : file.ignored) {
    answer.complaints += fmt::format("{}: is not known here, and was passed over.\n", name);
  }
  if (const auto none = nothing_ahead(file.timing, options.now)) {
    answer.complaints += line_of(*none, file.path);
  }
  const auto occurrences = first_occurrences(file.timing, options.now, options.count);
  answer.output = options.json ? as_json(occurrences) : as_lines(occurrences);
  answer.understood = true;
  return answer;
}

}  // namespace belfry
