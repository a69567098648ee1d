// SPDX-License-Identifier: MIT
//
// Collections, jobs and history rows to test and measure stores with, each in one line, and a
// directory that goes away.

#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/assert.h"
#include "store/store.h"
#include "wire/definition_json.h"

namespace belfry {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    // In memory where there is such a place: these tests ask what is written, not how durably.
    const std::filesystem::path memory = "/dev/shm";
    const auto parent =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    std::string name = (parent / "belfry-store-XXXXXX").native();
    ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// So many seconds after some moment of 2026.
inline Instant at(std::int64_t seconds) {
  return Instant{Seconds{1'767'225'600 + seconds}};
}

inline CollectionKey collection_key(const std::string& name = "backups") {
  return {.subscription = "Sub-1", .resource_group = "Group-1", .name = name};
}

inline JobCollection sample_collection(const CollectionKey& key = collection_key()) {
  JobCollection out;
  out.key = key;
  out.location = "West Europe";
  out.tags = {{"team", "ops"}, {"Ünïcode", "日本語 \"quoted\""}};
  out.sku = Sku::p10_premium;
  out.quota = {.max_job_count = 50,
               .max_recurrence = {.frequency = Frequency::hour, .interval = 2}};
  out.gen = 1;
  return out;
}

inline Job sample_job(std::int64_t id, const std::string& name,
                      const CollectionKey& collection = collection_key()) {
  Job job;
  job.id = JobId{id};
  job.key = JobKey{.collection = collection, .name = name};
  HttpAction call;
  call.uri = "http://example.com/" + name;
  call.method = "POST";
  call.headers = {{"content-type", "text/plain; charset=utf-8"}};
  call.body = "Grüße aus 東京 🎉";
  job.definition.edit().action.what = call;
  job.definition.edit().timing.recurrence = Recurrence{.frequency = Frequency::hour,
                                                       .interval = 3,
                                                       .count = 7,
                                                       .end_time = at(86'400),
                                                       .schedule = {},
                                                       .zone = {}};
  job.gen = 1;
  job.defined_at = at(0);
  return job;
}

inline Job with_secret(Job job, const std::string& password) {
  std::get<HttpAction>(job.definition.edit().action.what).authentication =
      BasicAuthentication{.username = "anna", .password = Secret(password)};
  return job;
}

// All secrets of both actions, as text.
inline std::string secrets_of(const JobDefinition& definition) {
  std::string out = secrets_text(definition.action);
  if (definition.error_action) out += secrets_text(*definition.error_action);
  return out;
}

// Waits until `due`.
inline Job waiting(Job job, Instant due, std::int64_t seq = 1) {
  job.last_seq = seq;
  job.next = DueAttempt{.due = due, .occurrence = {.scheduled_for = due, .seq = seq}};
  return job;
}

inline HistoryEntry sample_history(std::int64_t job, std::int64_t seq,
                                   HistoryStatus status = HistoryStatus::completed) {
  HistoryEntry row;
  row.job = JobId{job};
  row.occurrence = {.scheduled_for = at(60 * seq), .seq = seq};
  row.repeat = seq;
  row.started = at(60 * seq) + kOneTick;
  row.ended = at(60 * seq + 1);
  row.status = status;
  row.message = fmt::format("Run {} of job {}: ça va.", seq, job);
  return row;
}

// Everything a job is, for comparison as text where tests print what differs.
inline std::string described(const Job& job) {
  const auto ticks = [](const std::optional<Instant>& instant) {
    return instant ? std::to_string(instant->time_since_epoch().count()) : std::string("-");
  };
  std::string next = "-";
  if (job.next) {
    next = fmt::format("{} {} {} {} {} {} {} {}", ticks(job.next->due),
                       ticks(job.next->occurrence.scheduled_for), job.next->occurrence.seq,
                       static_cast<int>(job.next->origin), static_cast<int>(job.next->role),
                       job.next->retry, ticks(job.next->started), job.next->suspended);
  }
  return fmt::format(
      "{} {}/{}/{}/{} gen {} state {} status {} {} {} {} retry {} defined {} seq {} ran {} "
      "covered {} owed {} ended {} next {}",
      static_cast<std::int64_t>(job.id), job.key->collection.subscription,
      job.key->collection.resource_group, job.key->collection.name, job.key->name, job.gen,
      static_cast<int>(job.state), ticks(job.status.last_execution), job.status.executions,
      job.status.failures, job.status.faults, job.retry_interval_default.count(),
      ticks(job.defined_at), job.last_seq, job.ran, ticks(job.covered_until), ticks(job.owed_until),
      ticks(job.ended), next);
}

inline std::string described(const JobCollection& collection) {
  std::string tags;
  for (const auto& [name, value] : collection.tags) tags += name + '=' + value + ';';
  return fmt::format("{}/{}/{} {} [{}] {} {} {} {} {} gen {}", collection.key.subscription,
                     collection.key.resource_group, collection.key.name, collection.location, tags,
                     static_cast<int>(collection.sku), static_cast<int>(collection.state),
                     collection.quota.max_job_count,
                     static_cast<int>(collection.quota.max_recurrence.frequency),
                     collection.quota.max_recurrence.interval, collection.gen);
}

}  // namespace belfry
