// SPDX-License-Identifier: MIT
//
// The operations of the API that write: parse, check, submit. A PATCH is laid over what is
// stored and submitted for as long as that has not changed; else it is tried again.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "api/api.h"
#include "api/certificates.h"
#include "api/response.h"
#include "recurrence/timing_rules.h"
#include "store/fingerprint.h"
#include "wire/collection_json.h"
#include "wire/merge.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr const char* kMalformedJob = "Malformed Job Object";
constexpr const char* kMalformedCollection = "Malformed Job Collection Object";

Result<json::value> parse_body(const HttpRequest& request, JsonMemory& memory) {
  if (request.body.empty()) {
    return Error{ErrorCode::invalid, "The request has no body; it must be a JSON object.", {}};
  }
  return parse_json(request.body, JsonDialect::strict, memory.get());
}

// Errors about a job's properties, with paths as they are in the body.
std::vector<Error> placed(std::vector<Error> errors, const json::value& body) {
  const auto* object = body.if_object();
  const bool wrapped = object != nullptr && names_member(*object, {"properties"});
  for (Error& error : errors) {
    if (wrapped) error.target = "properties." + error.target;
  }
  return errors;
}

std::size_t body_bytes(const Action& action) {
  const auto* http = std::get_if<HttpAction>(&action.what);
  return http != nullptr && http->body ? http->body->size() : 0;
}

// A patch may leave a body that was allowed once.
std::size_t body_bytes(const Job& job) {
  const JobDefinition& definition = *job.definition;
  const std::size_t main = body_bytes(definition.action);
  return definition.error_action ? std::max(main, body_bytes(*definition.error_action)) : main;
}

}  // namespace

void Api::put_collection(const Permit& permit, const CallPtr& call) {
  JsonMemory memory;
  const auto body = parse_body(call->request, memory);
  if (!body) return answer(call, malformed_response(kMalformedCollection, {body.error()}));
  const auto stored = store_.collection(call->path.key.collection);
  if (!stored) return answer(call, get_collection(permit, *call));  // which fails likewise
  Reading reading;
  PutCollectionCommand command;
  command.collection = read_collection(*body, call->path.key.collection, options_.plans,
                                       *stored ? &**stored : nullptr, call->version, reading);
  if (!reading.errors.empty()) {
    return answer(call, malformed_response(kMalformedCollection, reading.errors));
  }
  submit(permit, call, std::move(command), [version = call->version, reading](const Reply& reply) {
    // 201 for an update too: so did the live service, every time.
    HttpResponse response = json_response(201, write_collection(*reply.collection, version));
    add_ignored(response, reading.ignored);
    return response;
  });
}

void Api::patch_collection(const Permit& permit, const CallPtr& call, int tries_left) {
  JsonMemory memory;
  const auto body = parse_body(call->request, memory);
  if (!body) return answer(call, malformed_response(kMalformedCollection, {body.error()}));
  const auto stored = store_.collection(call->path.key.collection);
  if (!stored || !*stored) return answer(call, get_collection(permit, *call));
  Reading reading;
  PutCollectionCommand command;
  command.collection =
      read_collection(patched_collection(**stored, *body, call->version), (*stored)->key,
                      options_.plans, &**stored, call->version, reading);
  command.expected_gen = (*stored)->gen;
  if (!reading.errors.empty()) {
    return answer(call, malformed_response(kMalformedCollection, reading.errors));
  }
  const auto render = [version = call->version, reading](const Reply& reply) {
    HttpResponse response = json_response(200, write_collection(*reply.collection, version));
    add_ignored(response, reading.ignored);
    return response;
  };
  std::function<void()> again;
  if (tries_left > 1) {
    again = [this, permit, call, tries_left] { patch_collection(permit, call, tries_left - 1); };
  }
  submit(permit, call, std::move(command), render, again);
}

// A job that has this timing already may keep it when its last occurrence has passed; one that is
// at its end begins anew, and by today's date.
std::vector<Error> Api::faults_of(const Timing& timing, const JobKey& key) {
  const Instant now = clock_.now();
  std::vector<Error> faults = broken_timing_rules(timing, now);
  const auto& recurrence = timing.recurrence;
  const bool ends = recurrence && (recurrence->end_time || recurrence->count);
  if (faults.empty() && !ends) return {};
  const auto stored = store_.job(key);
  const Job* job = stored && *stored ? &**stored : nullptr;
  const bool runs_on = job != nullptr && !is_final(job->state);
  const bool same = job != nullptr && job->definition->timing == timing;
  if (same && (runs_on || faults.empty())) return {};
  if (!faults.empty()) return faults;
  const bool recurs = runs_on && job->definition->timing.recurrence;
  const auto none =
      nothing_ahead(timing, now, recurs ? std::optional(job->defined_at) : std::nullopt);
  if (none) faults.push_back(*none);
  return faults;
}

// Two that come at once may both find room for one: the page of metrics has a bound of its own.
std::vector<Error> Api::too_many_counted(const JobDefinition& wanted, const JobKey& key) const {
  if (!wanted.metrics.value_or(false) || !options_.count_counted_jobs) return {};
  const auto others = options_.count_counted_jobs(key);
  if (!others || static_cast<std::size_t>(*others) < kCountedJobsMax) return {};
  return {Error{ErrorCode::invalid,
                fmt::format("cannot be true: {} jobs of this server have it already, and no more "
                            "may.",
                            *others),
                "metrics"}};
}

// One that keeps a stored secret stands for as long as the job is as it was then, like a PATCH.
void Api::put_job(const Permit& permit, const CallPtr& call, int tries_left) {
  JsonMemory memory;
  const auto body = parse_body(call->request, memory);
  if (!body) return answer(call, malformed_response(kMalformedJob, {body.error()}));
  Reading reading{.body_bytes_max = options_.body_bytes_max};
  Result<std::optional<Job>> stored = std::optional<Job>();
  JobRequest wanted = read_job(*body, reading, [&]() -> const JobDefinition* {
    stored = store_.job(call->path.key);
    return stored && *stored ? &*(*stored)->definition : nullptr;
  });
  if (!stored) return answer(call, get_job(permit, *call));  // which fails likewise
  if (reading.errors.empty()) {
    reading.errors = placed(faults_of(wanted.definition.timing, call->path.key), *body);
  }
  if (reading.errors.empty()) {
    if (has_unopened_certificates(wanted.definition)) workers_.step_aside();
    const JobDefinition* before = *stored ? &*(*stored)->definition : nullptr;
    reading.errors = placed(open_certificates(wanted.definition, before), *body);
  }
  if (reading.errors.empty()) {
    reading.errors = placed(too_many_counted(wanted.definition, call->path.key), *body);
  }
  if (!reading.errors.empty()) {
    return answer(call, malformed_response(kMalformedJob, reading.errors));
  }
  const JobState state = wanted.enabled ? JobState::enabled : JobState::disabled;
  PutJobCommand command{call->path.key, std::move(wanted.definition), wanted.enabled,
                        fingerprint(wanted.text, state)};
  if (*stored) command.expected_gen = (*stored)->gen;
  const auto render = [this, call, reading](const Reply& reply) {
    HttpResponse response = job_response(reply.created ? 201 : 200, *call, *reply.job);
    add_ignored(response, reading.ignored);
    return response;
  };
  std::function<void()> again;
  if (tries_left > 1) {
    again = [this, permit, call, tries_left] { put_job(permit, call, tries_left - 1); };
  }
  submit(permit, call, std::move(command), render, again);
}

void Api::patch_job(const Permit& permit, const CallPtr& call, int tries_left) {
  JsonMemory memory;
  const auto body = parse_body(call->request, memory);
  if (!body) return answer(call, malformed_response(kMalformedJob, {body.error()}));
  const auto stored = store_.job(call->path.key);
  if (!stored || !*stored) return answer(call, get_job(permit, *call));
  const Job& job = **stored;
  Reading reading{.body_bytes_max = std::max(options_.body_bytes_max, body_bytes(job))};
  JobRequest wanted =
      read_job(patched_job(job, *body), reading, [&job] { return &*job.definition; });
  // What the patch leaves as it was is not judged again.
  if (reading.errors.empty() && wanted.definition.timing != job.definition->timing) {
    reading.errors = placed(faults_of(wanted.definition.timing, job.key), *body);
  }
  if (reading.errors.empty()) {
    if (has_unopened_certificates(wanted.definition)) workers_.step_aside();
    reading.errors = placed(open_certificates(wanted.definition, &*job.definition), *body);
  }
  if (reading.errors.empty()) {
    reading.errors = placed(too_many_counted(wanted.definition, job.key), *body);
  }
  if (!reading.errors.empty()) {
    return answer(call, malformed_response(kMalformedJob, reading.errors));
  }
  PatchJobCommand command{job.key, std::move(wanted.definition), wanted.enabled, job.gen};
  const auto render = [this, call, reading](const Reply& reply) {
    HttpResponse response = job_response(200, *call, *reply.job);
    add_ignored(response, reading.ignored);
    return response;
  };
  std::function<void()> again;
  if (tries_left > 1) {
    again = [this, permit, call, tries_left] { patch_job(permit, call, tries_left - 1); };
  }
  submit(permit, call, std::move(command), render, again);
}

}  // namespace belfry
