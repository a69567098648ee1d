// SPDX-License-Identifier: MIT

#include "app/next_ring.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "base/ascii.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr const char* kWeekDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                     "Thursday", "Friday", "Saturday"};
constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                   "May",       "June",     "July",     "August",
                                   "September", "October",  "November", "December"};

const json::value* below(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* at = &value;
  for (const std::string_view name : path) {
    at = at->is_object() ? at->get_object().if_contains(name) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* text = below(value, path);
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : "";
}

std::string time_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const std::string text = text_at(value, path);
  const auto instant = parse_instant(text);
  return instant ? in_words(*instant) : text;
}

}  // namespace

std::string in_words(Instant instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<Seconds>(instant - day));
  return fmt::format(
      "{} {} {} {} at {:02}:{:02}:{:02} UTC", kWeekDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

std::optional<std::string> next_ring(const std::string& job, const json::value& answer) {
  const std::string state = text_at(answer, {"properties", "state"});
  if (equal_ignoring_case(state, "disabled")) {
    return fmt::format("{0} does not ring: it is disabled. `belfry job enable {0}` lets it go on.",
                       job);
  }
  if (equal_ignoring_case(state, "completed")) {
    return fmt::format("{} does not ring again: it is completed.", job);
  }
  if (equal_ignoring_case(state, "faulted")) {
    return fmt::format("{0} does not ring again: it is faulted. `belfry job history {0}` says why.",
                       job);
  }
  const std::string next = time_at(answer, {"properties", "status", "nextExecutionTime"});
  if (!next.empty()) return fmt::format("{} rings next on {}.", job, next);
  if (below(answer, {"properties", "status", "currentAttempt"}) == nullptr) return std::nullopt;
  const std::string again =
      time_at(answer, {"properties", "status", "currentAttempt", "nextTryTime"});
  if (again.empty()) return fmt::format("{} is ringing now.", job);
  return fmt::format("{} is tried again on {}.", job, again);
}

std::string no_ring(const std::string& job, const json::value& collection) {
  const std::string state = text_at(collection, {"properties", "state"});
  if (equal_ignoring_case(state, "enabled")) return fmt::format("{} has no next time.", job);
  return fmt::format("{} does not ring: its job collection '{}' is disabled.", job,
                     text_at(collection, {"name"}));
}

}  // namespace belfry
