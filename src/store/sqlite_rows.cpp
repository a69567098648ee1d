// SPDX-License-Identifier: MIT

#include "store/sqlite_rows.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "store/sealed_definition.h"
#include "wire/json.h"

namespace belfry {

namespace {

using Tags = std::vector<std::pair<std::string, std::string>>;

Tags parse_tags(Rows& rows) {
  const auto parsed = parse_json(rows.view(), JsonDialect::strict);
  Tags tags;
  const auto* array = parsed ? parsed->if_array() : nullptr;
  bool sound = array != nullptr && array->size() % 2 == 0;
  for (std::size_t i = 0; sound && i < array->size(); i += 2) {
    const auto* name = (*array)[i].if_string();
    const auto* value = (*array)[i + 1].if_string();
    sound = name != nullptr && value != nullptr;
    if (sound) tags.emplace_back(std::string(*name), std::string(*value));
  }
  if (!sound) {
    rows.fail({ErrorCode::internal, damaged("tags that are not pairs"), ""});
  }
  return tags;
}

Status take_definition(const StoredDefinition& stored, const Sealer& sealer, Job& job) {
  auto definition = open_definition(sealer, job.id, job.key, stored);
  if (definition) {
    job.definition = *std::move(definition);
    return Done{};
  }
  return Error{ErrorCode::internal,
               fmt::format("the definition of job {} ({}) cannot be used: {}", job.key->name,
                           static_cast<std::int64_t>(job.id), definition.error().message),
               ""};
}

// Its columns are there where `due` or `suspended` is.
std::optional<DueAttempt> read_next(Rows& rows) {
  const auto due = rows.maybe_instant();
  DueAttempt next;
  next.occurrence = {.scheduled_for = rows.instant(), .seq = rows.integer()};
  next.origin = rows.choice(Origin::extra);
  next.role = rows.choice(ActionRole::error);
  next.retry = static_cast<int>(rows.integer());
  next.started = rows.maybe_instant();
  const auto suspended = rows.maybe_instant();
  if (!due && !suspended) return std::nullopt;
  next.due = suspended ? *suspended : *due;
  next.suspended = suspended.has_value();
  return next;
}

void read_progress(Rows& rows, Job& job) {
  job.gen = rows.integer();
  job.state = rows.choice(JobState::faulted);
  job.next = read_next(rows);
  job.last_seq = rows.integer();
  job.ran = rows.integer();
  job.status = {.last_execution = rows.maybe_instant(),
                .executions = rows.integer(),
                .failures = rows.integer(),
                .faults = rows.integer()};
  job.covered_until = rows.instant();
  job.owed_until = rows.instant();
  job.retry_interval_default = Ticks{rows.integer()};
  job.ended = rows.maybe_instant();
  job.defined_at = rows.instant();
}

}  // namespace

CollectionKey read_collection_key(Rows& rows) {
  return {.subscription = rows.text(), .resource_group = rows.text(), .name = rows.text()};
}

StoredCollection read_stored_collection(Rows& rows) {
  StoredCollection stored;
  JobCollection& out = stored.collection;
  out.key = read_collection_key(rows);
  out.location = rows.text();
  out.tags = parse_tags(rows);
  out.sku = rows.choice(Sku::p20_premium);
  out.state = rows.choice(CollectionState::suspended);
  out.quota.max_job_count = static_cast<int>(rows.integer());
  out.quota.max_recurrence.frequency = rows.choice(Frequency::year);
  out.quota.max_recurrence.interval = static_cast<int>(rows.integer());
  out.gen = rows.integer();
  stored.mac = rows.maybe_text();
  return stored;
}

JobCollection read_collection(Rows& rows, const Sealer& sealer) {
  auto stored = read_stored_collection(rows);
  const auto genuine = check_mac(sealer, stored.collection, stored.mac);
  if (!genuine) rows.fail(genuine.error());
  return std::move(stored.collection);
}

StoredDefinition read_definition(Rows& rows) {
  StoredDefinition stored;
  stored.document = rows.view();
  stored.main_secrets = rows.maybe_view();
  stored.error_secrets = rows.maybe_view();
  stored.mac = rows.maybe_view();
  return stored;
}

ReadJob read_job(Rows& rows, const Sealer& sealer) {
  ReadJob out;
  Job& job = out.job;
  JobKey key{.collection = read_collection_key(rows), .name = {}};
  job.id = JobId{rows.integer()};
  key.name = rows.text();
  job.key = std::move(key);
  out.definition = take_definition(read_definition(rows), sealer, job);
  read_progress(rows, job);
  return out;
}

HistoryEntry read_history(Rows& rows, JobId job) {
  HistoryEntry row;
  row.job = job;
  row.occurrence.seq = rows.integer();
  row.role = rows.choice(ActionRole::error);
  row.retry = static_cast<int>(rows.integer());
  row.status = rows.choice(HistoryStatus::postponed);
  row.occurrence.scheduled_for = rows.instant();
  row.repeat = rows.integer();
  row.started = rows.instant();
  row.ended = rows.instant();
  row.message = rows.text();
  if (row.status != HistoryStatus::postponed) return row;
  const auto gap_last = rows.maybe_instant();
  const auto gap_count = rows.maybe_integer();
  if (gap_last) row.gap = Gap{.last = *gap_last, .count = gap_count.value_or(0)};
  return row;
}

std::string tags_text(const Tags& tags) {
  boost::json::array array;
  for (const auto& [name, value] : tags) {
    array.emplace_back(name);
    array.emplace_back(value);
  }
  return boost::json::serialize(array);
}

}  // namespace belfry
