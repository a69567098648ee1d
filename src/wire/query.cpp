// SPDX-License-Identifier: MIT

#include "wire/query.h"

#include <fmt/format.h>

#include <charconv>

#include "wire/json.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

constexpr Spelling<JobState> kStates[] = {
    {"enabled", JobState::enabled},
    {"disabled", JobState::disabled},
    {"completed", JobState::completed},
    {"faulted", JobState::faulted},
};

constexpr Spelling<HistoryStatus> kStatuses[] = {
    {"completed", HistoryStatus::completed},
    {"failed", HistoryStatus::failed},
    {"postponed", HistoryStatus::postponed},
};

Error wrong(std::string_view parameter, std::string message) {
  return {ErrorCode::invalid, fmt::format("{} {}", parameter, message), std::string(parameter)};
}

Result<std::size_t> parse_size(std::string_view parameter, std::string_view text, std::size_t min,
                               std::size_t max) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < min || number > max) {
    return wrong(parameter, fmt::format("must be an integer from {} to {}; it is '{}'.", min, max,
                                        text.substr(0, kShownValueMax)));
  }
  return number;
}

// In a query, '+' is a blank.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+') c = ' ';
  }
  return percent_decoded(plain);
}

// What stands before the mark, which is taken off the text with it; all of it without one.
std::string_view take_until(std::string_view& text, char mark) {
  std::size_t length = 0;
  while (length < text.size() && text[length] != mark) ++length;
  const auto taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

template <typename T>
Status keep_once(std::optional<T>& place, T value, std::string_view parameter) {
  if (place) return wrong(parameter, "is given twice.");
  place = std::move(value);
  return Done{};
}

Status keep(Query& query, const std::string& name, std::string value) {
  if (equal_ignoring_case(name, "api-version")) {
    return keep_once(query.api_version, std::move(value), name);
  }
  if (equal_ignoring_case(name, "$filter")) return keep_once(query.filter, std::move(value), name);
  if (equal_ignoring_case(name, "$skiptoken")) {
    return keep_once(query.skip_token, std::move(value), name);
  }
  if (equal_ignoring_case(name, "$top")) {
    TRY_ASSIGN(const std::size_t top, parse_size("$top", value, 1, kTopMax));
    return keep_once(query.top, top, name);
  }
  if (equal_ignoring_case(name, "$skip")) {
    TRY_ASSIGN(const std::size_t skip, parse_size("$skip", value, 0, kSkipMax));
    return keep_once(query.skip, skip, name);
  }
  return Done{};
}

// "field eq value" with blanks between, the value perhaps in single quotes.
struct Comparison {
  std::string_view field;
  std::string_view value;
};

std::string_view take_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return take_until(text, ' ');
}

std::optional<Comparison> parse_comparison(std::string_view text) {
  const auto field = take_word(text);
  const auto eq = take_word(text);
  auto value = take_word(text);
  if (!take_word(text).empty() || !equal_ignoring_case(eq, "eq") || value.empty()) {
    return std::nullopt;
  }
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') {
    value = value.substr(1, value.size() - 2);
  }
  return Comparison{field, value};
}

template <typename T, std::size_t N>
Result<T> value_of(const std::optional<Comparison>& comparison, bool field_known,
                   std::string_view field, std::string_view filter,
                   const Spelling<T> (&spellings)[N]) {
  if (comparison && field_known) {
    for (const auto& [spelling, value] : spellings) {
      if (equal_ignoring_case(comparison->value, spelling)) return value;
    }
  }
  std::string allowed;
  for (const auto& [spelling, value] : spellings) {
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", spelling);
  }
  return wrong("$filter", fmt::format("must be '{} eq VALUE' with one of {}; it is '{}'.", field,
                                      allowed, filter.substr(0, kShownValueMax)));
}

}  // namespace

Result<Query> parse_query(std::string_view text) {
  Query query;
  std::size_t parameters = 0;
  while (!text.empty()) {
    if (++parameters > kParametersMax) {
      return wrong("The query", fmt::format("has more than {} parameters.", kParametersMax));
    }
    const auto parameter = take_until(text, '&');
    auto rest = parameter;
    const auto name = decoded(take_until(rest, '='));
    auto value = decoded(rest);
    if (!name || !value) {
      return wrong("The query", fmt::format("has a malformed escape in '{}'.",
                                            parameter.substr(0, kShownValueMax)));
    }
    if (const Status kept = keep(query, *name, std::move(*value)); !kept) return kept.error();
  }
  return query;
}

Result<ApiVersion> known_api_version(const Query& query) {
  if (!query.api_version || query.api_version->empty()) {
    return Error{ErrorCode::missing_api_version,
                 "The api-version query parameter (?api-version=) is required for all requests.",
                 "api-version"};
  }
  std::string known;
  for (const auto& [spelling, version] : kApiVersions) {
    if (equal_ignoring_case(*query.api_version, spelling)) return version;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", spelling);
  }
  return Error{ErrorCode::invalid_api_version,
               fmt::format("The api-version '{}' is invalid. The supported versions are '{}'.",
                           query.api_version->substr(0, kShownValueMax), known),
               "api-version"};
}

Result<JobState> parse_state_filter(std::string_view filter) {
  const auto comparison = parse_comparison(filter);
  const bool known = comparison && equal_ignoring_case(comparison->field, "state");
  return value_of(comparison, known, "state", filter, kStates);
}

Result<HistoryStatus> parse_status_filter(std::string_view filter) {
  const auto comparison = parse_comparison(filter);
  const bool known = comparison && (equal_ignoring_case(comparison->field, "status") ||
                                    equal_ignoring_case(comparison->field, "state"));
  return value_of(comparison, known, "status", filter, kStatuses);
}

Result<Scope> parse_scope_filter(std::string_view filter) {
  const auto comparison = parse_comparison(filter);
  if (!comparison || !equal_ignoring_case(comparison->field, "scope")) {
    return wrong("$filter", fmt::format("must be 'scope eq SCOPE'; it is '{}'.",
                                        filter.substr(0, kShownValueMax)));
  }
  auto scope = parse_scope(comparison->value);
  if (!scope) return wrong("$filter", scope.error().message);
  return scope;
}

}  // namespace belfry
