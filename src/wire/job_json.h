// SPDX-License-Identifier: MIT
//
// Jobs and their history as Azure spells them.

#pragma once

#include <optional>

#include "model/history.h"
#include "model/job.h"
#include "wire/definition_json.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

// What a client asks of a job: its definition, and whether it shall run.
struct JobRequest {
  JobDefinition definition;
  std::string
      text;  // the definition's canonical one (wire/definition_json.h), if there is no error
  bool enabled = true;
};

// Reads the body of a PUT: {"properties": {…}}, or the properties themselves. `stored` is the job's
// definition as it was, for secrets that are to stay (keep_secrets()).
JobRequest read_job(const boost::json::value& body, Reading& reading,
                    const PreviousDefinition& stored = {});

// The body of a PATCH laid over the job as it is, for read_job(), which keeps the secrets.
boost::json::value patched_job(const Job& job, const boost::json::value& patch);

// `next_execution` is absent while the job or its collection is disabled.
void write_job(JsonWriter& out, const Job& job, std::optional<Instant> next_execution,
               DurationForm durations = DurationForm::time_span);

// Azure left the status of a success out; an operator may have it written.
enum class SuccessStatus { omitted, written };

// Writes rows of one job: how each is called begins with how the job is.
class HistoryWriter {
 public:
  HistoryWriter(const JobKey& key, SuccessStatus success);
  void write(JsonWriter& out, const HistoryEntry& entry) const;

 private:
  std::string before_id_;    // what stands before the row's own name, at its first place
  std::string before_name_;  // and at its second
  SuccessStatus success_;
};

}  // namespace belfry
