// SPDX-License-Identifier: MIT

#include "wire/timing_json.h"

#include <fmt/format.h>

#include "wire/iso8601.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kScheduleElementsMax = 128;
constexpr int kHourMidnightAgain = 24;  // the founding documents count hours to 24

constexpr Spelling<Frequency> kFrequencies[] = {
    {"minute", Frequency::minute}, {"hour", Frequency::hour},   {"day", Frequency::day},
    {"week", Frequency::week},     {"month", Frequency::month}, {"year", Frequency::year},
};

constexpr Spelling<WeekDay> kWeekDays[] = {
    {"sunday", WeekDay::sunday},     {"monday", WeekDay::monday},
    {"tuesday", WeekDay::tuesday},   {"wednesday", WeekDay::wednesday},
    {"thursday", WeekDay::thursday}, {"friday", WeekDay::friday},
    {"saturday", WeekDay::saturday},
};

struct Range {
  std::int64_t min;
  std::int64_t max;
};

std::optional<Instant> read_instant(ObjectReader& object, std::string_view name, Reading& reading) {
  const json::value* value = object.find(name);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  const auto instant = text != nullptr ? parse_instant(*text) : std::nullopt;
  if (!instant) {
    reading.fail(object.path_of(name), fmt::format("must be a date and time in ISO 8601 such as "
                                                   "'2030-01-31T09:00:00Z'; it is {}.",
                                                   shown(*value)));
  }
  return instant;
}

// Calls `insert` with each number of the array (or bare number) `name` that is in range, and
// the element it stands in.
template <typename Insert>
void read_numbers(ObjectReader& schedule, std::string_view name, Range range, Reading& reading,
                  Insert insert) {
  const json::value* value = schedule.find(name);
  if (value == nullptr) return;
  const std::string path = schedule.path_of(name);
  for (const Element& element : elements_of(*value, path, kScheduleElementsMax, reading)) {
    const auto number = integer_of(*element.value);
    if (number && range.min <= *number && *number <= range.max) {
      insert(static_cast<int>(*number), element);
    } else {
      reading.fail(element.path(), fmt::format("must be an integer from {} to {}; it is {}.",
                                               range.min, range.max, shown(*element.value)));
    }
  }
}

std::optional<WeekDay> read_week_day(const Element& element, Reading& reading) {
  if (const auto* text = element.value->if_string()) {
    for (const auto& [spelling, day] : kWeekDays) {
      if (equal_ignoring_case(*text, spelling)) return day;
    }
  }
  reading.fail(element.path(),
               fmt::format("must be a day of the week, sunday to saturday; it is {}.",
                           shown(*element.value)));
  return std::nullopt;
}

void read_week_days(ObjectReader& schedule, Schedule& out, Reading& reading) {
  const json::value* value = schedule.find("weekDays");
  if (value == nullptr) return;
  const std::string path = schedule.path_of("weekDays");
  for (const Element& element : elements_of(*value, path, kScheduleElementsMax, reading)) {
    if (const auto day = read_week_day(element, reading)) {
      out.week_days.insert(static_cast<int>(*day));
    }
  }
}

void read_month_days(ObjectReader& schedule, Schedule& out, Reading& reading) {
  read_numbers(schedule, "monthDays", {-31, 31}, reading, [&](int day, const Element& element) {
    if (day > 0) {
      out.month_days.insert(day);
    } else if (day < 0) {
      out.month_days_from_end.insert(-day);
    } else {
      reading.fail(element.path(),
                   "must be from 1 to 31 or, from the end of the month, -1 to -31; it is 0.");
    }
  });
}

std::optional<MonthlyOccurrence> read_monthly_occurrence(const Element& element, Reading& reading) {
  const auto* object = element.value->if_object();
  if (object == nullptr) {
    reading.fail(element.path(), fmt::format("must be an object with day and occurrence; it is {}.",
                                             shown(*element.value)));
    return std::nullopt;
  }
  ObjectReader reader(*object, element.path(), reading);
  const json::value* day = reader.find("day");
  if (day == nullptr) reader.fail("day", "is missing: it names a day of the week.");
  const std::string day_path = reader.path_of("day");
  const auto week_day =
      day == nullptr ? std::nullopt : read_week_day({day, &day_path, std::nullopt}, reading);
  const auto n = reader.integer("Occurrence", -kOccurrenceInMonthMax, kOccurrenceInMonthMax);
  if (n == 0) {
    reader.fail("Occurrence",
                "must be from 1 to 5 or, from the end of the month, -1 to -5; left "
                "out it means every such day. It is 0.");
    return std::nullopt;
  }
  if (!week_day) return std::nullopt;
  return MonthlyOccurrence{*week_day, static_cast<int>(n.value_or(MonthlyOccurrence::kEvery))};
}

void read_monthly_occurrences(ObjectReader& schedule, Schedule& out, Reading& reading) {
  const json::value* value = schedule.find("monthlyOccurrences");
  if (value == nullptr) return;
  auto& chosen = out.monthly_occurrences;
  const std::string path = schedule.path_of("monthlyOccurrences");
  for (const Element& element : elements_of(*value, path, kMonthlyOccurrencesMax, reading)) {
    const auto occurrence = read_monthly_occurrence(element, reading);
    if (!occurrence) continue;
    if (std::find(chosen.begin(), chosen.end(), *occurrence) == chosen.end()) {
      chosen.push_back(*occurrence);
    }
  }
}

Schedule read_schedule(ObjectReader schedule, Reading& reading) {
  Schedule out;
  read_numbers(schedule, "minutes", {0, 59}, reading,
               [&](int n, const Element&) { out.minutes.insert(n); });
  read_numbers(schedule, "hours", {0, kHourMidnightAgain}, reading,
               [&](int n, const Element&) { out.hours.insert(n % kHourMidnightAgain); });
  read_week_days(schedule, out, reading);
  read_month_days(schedule, out, reading);
  read_monthly_occurrences(schedule, out, reading);
  read_numbers(schedule, "months", {1, 12}, reading,
               [&](int n, const Element&) { out.months.insert(n); });
  return out;
}

Recurrence read_recurrence(ObjectReader reader, Reading& reading) {
  Recurrence out;
  if (reader.find("frequency") == nullptr) {
    reader.fail("frequency", "is missing: it must be one of minute, hour, day, week, month, year.");
  }
  out.frequency = reader.choice("frequency", kFrequencies).value_or(Frequency::day);
  out.interval = static_cast<int>(reader.integer("interval", 1, kIntervalMax).value_or(1));
  out.count = reader.integer("count", 0, kCountMax);
  if (out.count == 0) out.count.reset();  // Terraform sends 0 for "not given"
  out.end_time = read_instant(reader, "endTime", reading);
  if (auto schedule = reader.object("schedule")) {
    out.schedule = read_schedule(std::move(*schedule), reading);
  }
  return out;
}

template <typename Write>
void write_set(JsonWriter& out, std::string_view name, SmallSet set, Write write) {
  if (set.empty()) return;
  out.array(name, [&] {
    for (auto number = set.first_from(0); number; number = set.first_from(*number + 1)) {
      write(*number);
    }
  });
}

void write_month_days(JsonWriter& out, const Schedule& schedule) {
  for (int day = 1; day <= 31; ++day) {
    if (schedule.month_days.contains(day)) out.value(day);
  }
  for (int day = 1; day <= 31; ++day) {
    if (schedule.month_days_from_end.contains(day)) out.value(-day);
  }
}

void write_monthly_occurrence(JsonWriter& out, const MonthlyOccurrence& occurrence) {
  out.object([&] {
    out.member("day", spelling_of(occurrence.day));
    if (occurrence.n != MonthlyOccurrence::kEvery) out.member("Occurrence", occurrence.n);
  });
}

void write_schedule(JsonWriter& out, const Schedule& schedule) {
  const auto number = [&out](int n) { out.value(n); };
  write_set(out, "minutes", schedule.minutes, number);
  write_set(out, "hours", schedule.hours, number);
  write_set(out, "weekDays", schedule.week_days,
            [&out](int day) { out.value(spelling_of(static_cast<WeekDay>(day))); });
  if (schedule.names_month_days()) {
    out.array("monthDays", [&] { write_month_days(out, schedule); });
  }
  if (!schedule.monthly_occurrences.empty()) {
    out.array("monthlyOccurrences", [&] {
      for (const auto& occurrence : schedule.monthly_occurrences) {
        write_monthly_occurrence(out, occurrence);
      }
    });
  }
  write_set(out, "months", schedule.months, number);
}

}  // namespace

std::string_view spelling_of(Frequency frequency) {
  return kFrequencies[static_cast<std::size_t>(frequency)].first;
}

std::string_view spelling_of(WeekDay day) {
  return kWeekDays[static_cast<std::size_t>(day)].first;
}

Timing read_timing(ObjectReader& properties, Reading& reading) {
  Timing timing;
  timing.start_time = read_instant(properties, "startTime", reading);
  if (auto recurrence = properties.object("recurrence")) {
    timing.recurrence = read_recurrence(std::move(*recurrence), reading);
  }
  return timing;
}

void write_recurrence(JsonWriter& out, const Recurrence& recurrence) {
  out.begin_object();
  out.member("frequency", spelling_of(recurrence.frequency));
  if (recurrence.count) out.member("count", *recurrence.count);
  if (recurrence.end_time) out.member("endTime", *recurrence.end_time);
  out.member("interval", recurrence.interval);
  if (!recurrence.schedule.empty()) {
    out.object("schedule", [&] { write_schedule(out, recurrence.schedule); });
  }
  out.end_object();
}

TimingFile read_timing_file(std::string_view text) {
  TimingFile file;
  const auto value = parse_json(text, JsonDialect::relaxed);
  if (!value) {
    file.errors = {value.error()};
    return file;
  }
  const auto* root = value->if_object();
  if (root == nullptr) {
    file.errors = {{ErrorCode::invalid, "The file must hold a JSON object.", {}}};
    return file;
  }
  Reading reading;
  {
    ObjectReader whole(*root, "", reading);
    auto properties = whole.object("properties");
    ObjectReader& job = properties ? *properties : whole;
    if (properties) file.path = "properties.";
    for (const char* name : {"id", "type", "name"}) whole.skip(name);
    for (const char* name : {"action", "state", "status"}) job.skip(name);
    file.timing = read_timing(job, reading);
    if (!job.find("startTime") && !job.find("recurrence") && !job.find("action")) {
      reading.fail("", "There is no job in it: neither startTime nor recurrence nor action.");
    }
  }
  file.errors = std::move(reading.errors);
  file.ignored = std::move(reading.ignored);
  return file;
}

}  // namespace belfry
