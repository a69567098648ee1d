// SPDX-License-Identifier: MIT
//
// The operations of the API that read. Each is one short look into the store.

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/api.h"
#include "api/response.h"
#include "engine/not_found.h"
#include "engine/planning.h"
#include "wire/collection_json.h"
#include "wire/definition_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

std::string token_of(const HistoryEntry& entry) {
  return fmt::format("{}.{}.{}", entry.occurrence.seq, static_cast<int>(entry.role), entry.retry);
}

std::optional<HistoryPlace> parse_history_token(std::string_view text) {
  std::int64_t numbers[3] = {};
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    const bool last = i == 2;
    if (error != std::errc{} || (last ? rest != end : rest == end || *rest != '.')) {
      return std::nullopt;
    }
    at = last ? rest : rest + 1;
  }
  if (numbers[1] < 0 || numbers[1] > 1 || numbers[2] < 0 || numbers[2] > kRetryCountMax) {
    return std::nullopt;
  }
  return HistoryPlace{numbers[0], static_cast<ActionRole>(numbers[1]),
                      static_cast<int>(numbers[2])};
}

// What the user sees as the next execution: while an attempt is on its way, the one after it.
// A job that is disabled, or whose collection is, does nothing next.
std::optional<Instant> next_execution(const Job& job) {
  if (!job.next || job.next->suspended) return std::nullopt;
  if (!job.next->started) return job.next->due;
  return planned_after(job, job.covered_until);
}

// Azure's Python client gives up on a job whose retryInterval is 00:01:00.
bool reads_iso_durations_only(const HttpRequest& request) {
  const std::string agent = folded(header_of(request.headers, "User-Agent"));
  return agent.find("azsdk-python") != std::string::npos ||
         agent.find("azure-sdk-for-python") != std::string::npos;
}

}  // namespace

void Api::write_resource(JsonWriter& out, const Call& call, const Job& job) const {
  const bool iso = reads_iso_durations_only(call.request);
  write_job(out, job, next_execution(job), iso ? DurationForm::iso8601 : DurationForm::time_span);
}

HttpResponse Api::job_response(int status, const Call& call, const Job& job) const {
  JsonWriter out;
  write_resource(out, call, job);
  return json_text_response(status, out.take());
}

std::string Api::next_link(const Call& call, const std::string& token) const {
  return belfry::next_link(options_.scheme, call.request, call.query, token);
}

HttpResponse Api::provider(const Permit&, const Call& call) {
  return json_response(200,
                       write_provider(call.path.key.collection.subscription, options_.locations));
}

// Those that one may not read are passed over, and leave no trace in the link either. For somebody
// who has no part in what is listed nothing is read: how long that takes would tell how much is
// there.
HttpResponse Api::list_collections(const Permit& permit, const Call& call) {
  CollectionQuery query;
  query.subscription = call.path.key.collection.subscription;
  if (call.path.resource == Resource::collections_of_group) {
    query.resource_group = call.path.key.collection.resource_group;
  }
  query.after = call.query.skip_token.value_or("");
  query.limit = kCollectionsPerPage + 1;
  std::vector<JobCollection> seen;
  bool more = has_part_in(permit.caller().principal(), scope_of(call.path.key.collection));
  while (more && seen.size() <= kCollectionsPerPage) {
    auto collections = store_.collections(query);
    if (!collections) return error_response(collections.error());
    more = collections->size() == query.limit;
    if (more) query.after = folded(collections->back().key);
    for (JobCollection& collection : *collections) {
      if (!permit.caller().may(Operation::read, scope_of(collection.key))) continue;
      seen.push_back(std::move(collection));
    }
  }
  std::string link;
  if (seen.size() > kCollectionsPerPage) {
    seen.resize(kCollectionsPerPage);
    link = next_link(call, folded(seen.back().key));
  }
  return page_response(seen, link, [&](JsonWriter& out, const JobCollection& collection) {
    out.json(json::serialize(write_collection(collection, call.version)));
  });
}

HttpResponse Api::get_collection(const Permit&, const Call& call) {
  const auto collection = store_.collection(call.path.key.collection);
  if (!collection) return error_response(collection.error());
  if (!*collection) return error_response(collection_not_found(call.path.key.collection));
  return json_response(200, write_collection(**collection, call.version));
}

// Fewer where an operator lets jobs be large: a page is in memory as a whole.
std::size_t Api::jobs_per_page() const {
  return std::min(kJobsPerPage, kJobsPageBytesMax / job_bytes_max(options_.body_bytes_max));
}

HttpResponse Api::list_jobs(const Permit&, const Call& call) {
  const auto collection = store_.collection(call.path.key.collection);
  if (!collection) return error_response(collection.error());
  if (!*collection) return error_response(collection_not_found(call.path.key.collection));
  JobQuery query;
  query.collection = call.path.key.collection;
  query.after = call.query.skip_token.value_or("");
  query.skip = call.query.skip.value_or(0);
  query.limit = call.query.top.value_or(jobs_per_page() + 1);
  if (call.query.filter) {
    const auto state = parse_state_filter(*call.query.filter);
    if (!state) return error_response(state.error());
    query.state = *state;
  }
  auto jobs = store_.jobs(query);
  if (!jobs) return error_response(jobs.error());
  std::string link;
  if (!call.query.top && jobs->size() > jobs_per_page()) {
    jobs->pop_back();
    link = next_link(call, folded(jobs->back().key->name));
  }
  return page_response(*jobs, link,
                       [&](JsonWriter& out, const Job& job) { write_resource(out, call, job); });
}

HttpResponse Api::get_job(const Permit&, const Call& call) {
  const auto job = store_.job(call.path.key);
  if (!job) return error_response(job.error());
  if (*job) return job_response(200, call, **job);
  const auto collection = store_.collection(call.path.key.collection);
  if (!collection) return error_response(collection.error());
  return error_response(*collection ? job_not_found(call.path.key)
                                    : collection_not_found(call.path.key.collection));
}

HttpResponse Api::list_history(const Permit& permit, const Call& call) {
  const auto job = store_.job_name(call.path.key);
  if (!job) return error_response(job.error());
  if (!*job) return get_job(permit, call);
  HistoryQuery query;
  query.job = (*job)->id;
  query.skip = call.query.skip.value_or(0);
  query.limit = call.query.top.value_or(kHistoryPerPage + 1);
  if (call.query.filter) {
    const auto status = parse_status_filter(*call.query.filter);
    if (!status) return error_response(status.error());
    query.status = *status;
  }
  if (call.query.skip_token) {
    query.before = parse_history_token(*call.query.skip_token);
    if (!query.before) {
      return error_response(
          {ErrorCode::invalid, "$skiptoken is not one that we gave out.", "$skiptoken"});
    }
  }
  auto rows = store_.history(query);
  if (!rows) return error_response(rows.error());
  std::string link;
  if (!call.query.top && rows->size() > kHistoryPerPage) {
    rows->pop_back();
    link = next_link(call, token_of(rows->back()));
  }
  const HistoryWriter writer((*job)->key, options_.success_status);
  return page_response(*rows, link,
                       [&](JsonWriter& out, const HistoryEntry& row) { writer.write(out, row); });
}

}  // namespace belfry
