// SPDX-License-Identifier: MIT

#include "wire/job_json.h"

#include <fmt/format.h>

#include "model/attempt.h"
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

void read_properties(ObjectReader& properties, JobRequest& out, Reading& reading) {
  properties.skip("status");  // ours to tell; clients send back what they were given
  out.definition = read_definition(properties, reading);
  if (reading.errors.empty()) check_definition_size(out.definition, reading);
  const auto state = properties.choice("state", kStates);
  if (state && is_final(*state)) {
    properties.fail("state", fmt::format("can be set to enabled or disabled only; it is '{}'.",
                                         kStates[static_cast<std::size_t>(*state)].first));
  }
  out.enabled = state.value_or(JobState::enabled) == JobState::enabled;
}

json::object* child_of(json::object* object, std::string_view name) {
  json::value* child = object == nullptr ? nullptr : object->if_contains(name);
  return child == nullptr ? nullptr : child->if_object();
}

void respell_duration(json::object* object, std::string_view name) {
  json::value* value = object == nullptr ? nullptr : object->if_contains(name);
  if (value == nullptr) return;
  if (const auto duration = parse_duration(value->as_string())) {
    *value = format_iso_duration(*duration);
  }
}

void respell_durations_of_action(json::object* action) {
  respell_duration(action, "timeout");
  respell_duration(child_of(action, "retryPolicy"), "retryInterval");
  for (const auto* message : {"serviceBusQueueMessage", "serviceBusTopicMessage"}) {
    respell_duration(child_of(child_of(action, message), "brokeredMessageProperties"),
                     "timeToLive");
  }
}

json::object write_status(const JobStatus& status, std::optional<Instant> next_execution) {
  json::object out;
  if (status.last_execution) out["lastExecutionTime"] = format_instant(*status.last_execution);
  if (next_execution) out["nextExecutionTime"] = format_instant(*next_execution);
  out["executionCount"] = status.executions;
  out["failureCount"] = status.failures;
  out["faultedCount"] = status.faults;
  return out;
}

// Ours: the occurrence that is being tried, if one is. An attempt that is under way has begun;
// one that waits, for its retry or for its turn, has a time when it is tried next.
json::object write_current_attempt(const Job& job) {
  const DueAttempt& next = *job.next;
  json::object out;
  out["executionTag"] = occurrence_tag(job.id, next.occurrence.seq);
  out["expectedExecutionTime"] = format_instant(next.occurrence.scheduled_for);
  out["actionName"] = next.role == ActionRole::main ? "MainAction" : "ErrorAction";
  out["retryCount"] = next.retry;
  if (next.started) out["startTime"] = format_instant(*next.started);
  if (!next.started) out["nextTryTime"] = format_instant(next.due);
  return out;
}

// Two numbers of twenty digits: the first falls as time goes on, so that the order of texts
// is newest first; the second tells rows of the same instant apart.
std::string history_name(const HistoryEntry& entry) {
  constexpr std::int64_t kTicksMax = 3155378975999999999;        // the end of the year 9999
  constexpr std::int64_t kTicksBefore1970 = 621355968000000000;  // since the year 1
  constexpr std::int64_t kCounterMax = 9223372036854775807;
  constexpr std::int64_t kRowsPerOccurrence = 64;
  static_assert(2 * (kRetryCountMax + 1) <= kRowsPerOccurrence);
  const std::int64_t ticks = entry.started.time_since_epoch().count() + kTicksBefore1970;
  const std::int64_t row = entry.retry + (entry.role == ActionRole::error ? 32 : 0);
  return fmt::format("{:020}:{:020}", kTicksMax - ticks,
                     kCounterMax - (entry.occurrence.seq * kRowsPerOccurrence + row));
}

json::object write_history_properties(const HistoryEntry& entry, SuccessStatus success) {
  json::object out;
  out["startTime"] = format_instant(entry.started);
  out["endTime"] = format_instant(entry.ended);
  out["expectedExecutionTime"] = format_instant(entry.occurrence.scheduled_for);
  switch (entry.status) {
    case HistoryStatus::completed:
      if (success == SuccessStatus::written) out["status"] = "completed";
      break;
    case HistoryStatus::failed:
      out["status"] = "failed";
      break;
    case HistoryStatus::postponed:
      out["status"] = "postponed";
      break;
  }
  out["message"] = entry.message;
  out["retryCount"] = entry.retry;
  out["repeatCount"] = entry.repeat;
  out["actionName"] = entry.role == ActionRole::main ? "MainAction" : "ErrorAction";
  return out;
}

}  // namespace

JobRequest read_job(const json::value& body, Reading& reading) {
  JobRequest out;
  const auto* object = body.if_object();
  if (object == nullptr) {
    reading.fail("", fmt::format("The body must be a JSON object; it is {}.", shown(body)));
    return out;
  }
  ObjectReader whole(*object, "", reading);
  for (const auto* name : {"id", "type", "name"}) whole.skip(name);
  if (auto properties = whole.object("properties")) {
    read_properties(*properties, out, reading);
  } else if (whole.find("properties") == nullptr) {
    read_properties(whole, out, reading);
  }
  return out;
}

json::value patched_job(const Job& job, const json::value& patch) {
  const auto* object = patch.if_object();
  if (object == nullptr) return patch;  // read_job() says what is wrong with it
  json::object properties = write_definition(job.definition, Secrets::include);
  properties["state"] = job.state == JobState::disabled ? "disabled" : "enabled";
  json::value merged = json::object{};
  if (names_member(*object, {"properties"})) {
    merged.as_object()["properties"] = std::move(properties);
  } else {
    merged = std::move(properties);
  }
  // A map and the arrays of a schedule mean what they say, not what they add.
  merge_into(merged, patch, {"headers", "customMessageProperties"});
  return merged;
}

json::object write_job(const Job& job, std::optional<Instant> next_execution) {
  json::object properties = write_definition(job.definition, Secrets::omit);
  properties["state"] = kStates[static_cast<std::size_t>(job.state)].first;
  if (job.state != JobState::disabled || job.status.executions > 0) {
    json::object status = write_status(job.status, next_execution);
    if (job.next && job.next->open()) status["currentAttempt"] = write_current_attempt(job);
    properties["status"] = std::move(status);
  }
  json::object out;
  out["id"] = job_id(job.key);
  out["type"] = "Microsoft.Scheduler/jobCollections/jobs";
  out["name"] = fmt::format("{}/{}", job.key.collection.name, job.key.name);
  out["properties"] = std::move(properties);
  return out;
}

void respell_durations(json::object& job) {
  json::object* action = child_of(child_of(&job, "properties"), "action");
  respell_durations_of_action(action);
  respell_durations_of_action(child_of(action, "errorAction"));
}

json::object write_history(const JobKey& key, const HistoryEntry& entry, SuccessStatus success) {
  const std::string name = history_name(entry);
  json::object out;
  out["id"] = fmt::format("{}/history/{}", job_id(key), name);
  out["type"] = "Microsoft.Scheduler/jobCollections/jobs/history";
  out["name"] = fmt::format("{}/{}/{}", key.collection.name, key.name, name);
  out["properties"] = write_history_properties(entry, success);
  return out;
}

}  // namespace belfry
