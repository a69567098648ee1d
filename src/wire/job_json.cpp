// SPDX-License-Identifier: MIT

#include "wire/job_json.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/digits.h"
#include "model/attempt.h"
#include "wire/action_places.h"
#include "wire/definition_json.h"
#include "wire/iso8601.h"
#include "wire/merge.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr Spelling<JobState> kStates[] = {
    {"enabled", JobState::enabled},
    {"disabled", JobState::disabled},
    {"completed", JobState::completed},
    {"faulted", JobState::faulted},
};

void read_properties(ObjectReader& properties, JobRequest& out, const PreviousDefinition& stored,
                     Reading& reading) {
  properties.skip("status");  // ours to tell; clients send back what they were given
  out.definition = read_definition(properties, reading);
  if (reading.errors.empty()) {
    keep_secrets(out.definition, stored, properties.path_of("action"), reading);
  }
  if (reading.errors.empty()) out.text = measured_text(out.definition, reading);
  const auto state = properties.choice("state", kStates);
  if (state && is_final(*state)) {
    properties.fail("state", fmt::format("can be set to enabled or disabled only; it is '{}'.",
                                         kStates[static_cast<std::size_t>(*state)].first));
  }
  out.enabled = state.value_or(JobState::enabled) == JobState::enabled;
}

void write_status(JsonWriter& out, const JobStatus& status, std::optional<Instant> next_execution) {
  if (status.last_execution) {
    out.member("lastExecutionTime", *status.last_execution);
  }
  if (next_execution) out.member("nextExecutionTime", *next_execution);
  out.member("executionCount", status.executions);
  out.member("failureCount", status.failures);
  out.member("faultedCount", status.faults);
}

// Ours: the occurrence that is being tried, if one is. An attempt that is under way has begun;
// one that waits, for its retry or for its turn, has a time when it is tried next, unless the job
// or its collection is disabled.
void write_current_attempt(JsonWriter& out, const Job& job) {
  const DueAttempt& next = *job.next;
  out.member("executionTag", occurrence_tag(job.id, next.occurrence.seq));
  out.member("expectedExecutionTime", next.occurrence.scheduled_for);
  out.member("actionName", next.role == ActionRole::main ? "MainAction" : "ErrorAction");
  out.member("retryCount", next.retry);
  if (next.started) out.member("startTime", *next.started);
  if (next.waits()) out.member("nextTryTime", next.due);
}

constexpr int kNumberDigits = 20;
constexpr std::size_t kHistoryNameBytes = 2 * kNumberDigits + 1;

char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Two numbers of twenty digits: the first falls as time goes on, so that the order of texts
// is newest first; the second tells rows of the same instant apart.
std::array<char, kHistoryNameBytes> history_name(const HistoryEntry& entry) {
  constexpr std::int64_t kTicksMax = 3155378975999999999;        // the end of the year 9999
  constexpr std::int64_t kTicksBefore1970 = 621355968000000000;  // since the year 1
  constexpr std::int64_t kCounterMax = 9223372036854775807;
  constexpr std::int64_t kRowsPerOccurrence = 64;
  static_assert(2 * (kRetryCountMax + 1) <= kRowsPerOccurrence);
  const std::int64_t ticks = entry.started.time_since_epoch().count() + kTicksBefore1970;
  const std::int64_t row = entry.retry + (entry.role == ActionRole::error ? 32 : 0);
  const std::int64_t place = entry.occurrence.seq * kRowsPerOccurrence + row;
  std::array<char, kHistoryNameBytes> name;
  write_digits<kNumberDigits>(name.data(), static_cast<std::uint64_t>(kTicksMax - ticks));
  name[kNumberDigits] = ':';
  write_digits<kNumberDigits>(&name[kNumberDigits + 1],
                              static_cast<std::uint64_t>(kCounterMax - place));
  return name;
}

void write_outcome(JsonWriter& out, const HistoryEntry& entry, SuccessStatus success) {
  switch (entry.status) {
    case HistoryStatus::completed:
      if (success == SuccessStatus::written) out.member("status", "completed");
      break;
    case HistoryStatus::failed:
      out.member("status", "failed");
      break;
    case HistoryStatus::postponed:
      out.member("status", "postponed");
      break;
  }
  out.member("message", entry.message);
  out.member("retryCount", entry.retry);
  out.member("repeatCount", entry.repeat);
  out.member("actionName", entry.role == ActionRole::main ? "MainAction" : "ErrorAction");
}

// The patch with its members where answers have them.
json::value in_place(json::object patch) {
  const auto wrapped = find_any_case(patch, "properties");
  if (wrapped == patch.end()) {
    put_in_place(patch);
  } else if (json::object* properties = patch.at(wrapped->key()).if_object()) {
    put_in_place(*properties);
  }
  return patch;
}

}  // namespace

JobRequest read_job(const json::value& body, Reading& reading, const PreviousDefinition& stored) {
  JobRequest out;
  const auto* object = body.if_object();
  if (object == nullptr) {
    reading.fail("", fmt::format("The body must be a JSON object; it is {}.", shown(body)));
    return out;
  }
  ObjectReader whole(*object, "", reading);
  for (const auto* name : {"id", "type", "name"}) whole.skip(name);
  if (auto properties = whole.object("properties")) {
    read_properties(*properties, out, stored, reading);
  } else if (whole.find("properties") == nullptr) {
    read_properties(whole, out, stored, reading);
  }
  return out;
}

json::value patched_job(const Job& job, const json::value& patch) {
  const auto* object = patch.if_object();
  if (object == nullptr) return patch;  // read_job() says what is wrong with it
  const auto written = parse_json(definition_text(job.definition, Secrets::name), JsonDialect::own);
  ASSERT(written);
  json::object properties = written->as_object();
  properties["state"] = job.state == JobState::disabled ? "disabled" : "enabled";
  json::value merged = json::object{};
  if (names_member(*object, {"properties"})) {
    merged.as_object()["properties"] = std::move(properties);
  } else {
    merged = std::move(properties);
  }
  // A map and the arrays of a schedule mean what they say, not what they add.
  merge_into(merged, in_place(*object), {"headers", "customMessageProperties"});
  return merged;
}

void write_job(JsonWriter& out, const Job& job, std::optional<Instant> next_execution,
               DurationForm durations) {
  out.begin_object();
  out.member("id", job_id(job.key));
  out.member("type", "Microsoft.Scheduler/jobCollections/jobs");
  out.member("name", job.key->collection.name + '/' + job.key->name);
  out.object("properties", [&] {
    write_definition(out, job.definition, {.secrets = Secrets::omit, .durations = durations});
    out.member("state", kStates[static_cast<std::size_t>(job.state)].first);
    if (job.state == JobState::disabled && job.status.executions == 0) return;
    out.object("status", [&] {
      write_status(out, job.status, next_execution);
      if (!job.next || !job.next->open()) return;
      out.object("currentAttempt", [&] { write_current_attempt(out, job); });
    });
  });
  out.end_object();
}

// The same in every row, but for the row's own name, which follows each.
HistoryWriter::HistoryWriter(const JobKey& key, SuccessStatus success) : success_(success) {
  JsonWriter id;
  id.value(job_id(key) + "/history/");
  JsonWriter name;
  name.value(key.collection.name + '/' + key.name + '/');
  const auto without_end = [](const JsonWriter& quoted) {
    return quoted.text().substr(0, quoted.text().size() - 1);
  };
  before_id_ = R"("id":)" + without_end(id);
  before_name_ =
      R"(","type":"Microsoft.Scheduler/jobCollections/jobs/history","name":)" + without_end(name);
}

// A page has a hundred rows, and what is alike in them is most of it: it is copied in a few pieces.
void HistoryWriter::write(JsonWriter& out, const HistoryEntry& entry) const {
  constexpr std::string_view kStart = R"(","properties":{"startTime":")";
  constexpr std::string_view kEnd = R"(","endTime":")";
  constexpr std::string_view kExpected = R"(","expectedExecutionTime":")";
  const auto digits = history_name(entry);
  const std::string_view name(digits.data(), digits.size());
  out.begin_object();
  char* to = out.room(before_id_.size() + before_name_.size() + 2 * name.size() + kStart.size() +
                      kEnd.size() + kExpected.size() + 3 * kInstantBytesMax + 1);
  for (const std::string_view part :
       {std::string_view(before_id_), name, std::string_view(before_name_), name, kStart}) {
    to = put(to, part);
  }
  to = put(write_instant(to, entry.started), kEnd);
  to = put(write_instant(to, entry.ended), kExpected);
  to = put(write_instant(to, entry.occurrence.scheduled_for), "\"");
  out.ends_at(to);
  write_outcome(out, entry, success_);
  out.end_object();  // its properties
  out.end_object();
}

}  // namespace belfry
