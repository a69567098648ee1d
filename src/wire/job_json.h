// SPDX-License-Identifier: MIT
//
// Jobs and their history as Azure spells them.

#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "model/history.h"
#include "model/job.h"
#include "wire/json.h"

namespace belfry {

// What a client asks of a job: its definition, and whether it shall run.
struct JobRequest {
  JobDefinition definition;
  bool enabled = true;
};

// Reads the body of a PUT: {"properties": {…}}, or the properties themselves.
JobRequest read_job(const boost::json::value& body, Reading& reading);

// The body of a PATCH laid over the job as it is, secrets included, for read_job().
boost::json::value patched_job(const Job& job, const boost::json::value& patch);

// `next_execution` is absent while the job or its collection is disabled.
boost::json::object write_job(const Job& job, std::optional<Instant> next_execution);

// Writes the durations of a job that was written with write_job() in ISO 8601, for clients
// that read nothing else. The live service wrote hh:mm:ss, and so does write_job().
void respell_durations(boost::json::object& job);

// Azure left the status of a success out; an operator may have it written.
enum class SuccessStatus { omitted, written };
boost::json::object write_history(const JobKey& key, const HistoryEntry& entry,
                                  SuccessStatus success);

}  // namespace belfry
