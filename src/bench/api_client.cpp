// SPDX-License-Identifier: MIT

#include "bench/api_client.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "base/instant.h"
#include "bench/failure.h"

namespace belfry {
namespace {

constexpr std::int64_t kJobsPerCollection = 1000;
constexpr auto kAskAgainAfter = std::chrono::milliseconds(5);
constexpr auto kCompletedWithin = std::chrono::minutes(10);
constexpr const char* kGroup =
    "/subscriptions/bench/resourceGroups/bench/providers/Microsoft.Scheduler/jobCollections/";
constexpr const char* kVersion = "?api-version=2016-03-01";

std::int64_t collections_of(const JobBatch& batch) {
  return (batch.count + kJobsPerCollection - 1) / kJobsPerCollection;
}

std::string collection_path(const JobBatch& batch, std::int64_t number) {
  return fmt::format("{}{}{}", kGroup, batch.prefix, number);
}

std::string instant_text(double seconds) {
  return format_instant(Instant{Ticks{std::llround(seconds * 1e7)}});
}

std::string job_body(const JobBatch& batch, std::int64_t number) {
  const double due = batch.first_due + static_cast<double>(number) * batch.seconds_apart;
  return fmt::format(
      R"({{"properties":{{"startTime":"{}","action":{{"type":"http","request":{{"method":"POST",)"
      R"("uri":"http://127.0.0.1:{}/","body":"{{}}"}}}}}}}})",
      instant_text(due), batch.sink_port);
}

[[noreturn]] void refuse(const std::string& what, const Answer& answer) {
  throw BenchFailure(fmt::format("{} was answered {}: {}", what, answer.status, answer.body));
}

}  // namespace

Answer ApiClient::ask(const std::string& method, const std::string& target,
                      const std::string& body) const {
  return ask_once(port_, request(method, target, body));
}

void ApiClient::put_collections(const JobBatch& batch) const {
  for (std::int64_t number = 0; number < collections_of(batch); ++number) {
    const Answer answer = ask("PUT", collection_path(batch, number) + kVersion,
                              R"({"location":"here","properties":{"sku":{"name":"P20Premium"}}})");
    if (answer.status != 201) refuse("a new collection", answer);
  }
}

void ApiClient::delete_collections(const JobBatch& batch) const {
  for (std::int64_t number = 0; number < collections_of(batch); ++number) {
    ask("DELETE", collection_path(batch, number) + kVersion, "");
  }
}

std::string ApiClient::job_target(const JobBatch& batch, std::int64_t number,
                                  const std::string& below, const std::string& query) const {
  return fmt::format("{}/jobs/j{}{}{}{}", collection_path(batch, number / kJobsPerCollection),
                     number, below, kVersion, query);
}

LoadResult ApiClient::put_jobs(const JobBatch& batch, int connections) const {
  LoadResult result = run_load(
      {.port = port_, .connections = connections, .requests = batch.count, .duration = {}},
      [&](std::int64_t n) { return request("PUT", job_target(batch, n), job_body(batch, n)); });
  if (result.refused > 0) throw BenchFailure("a new job was answered: " + result.first_refusal);
  return result;
}

LoadResult ApiClient::get_again_and_again(const std::string& target, int connections,
                                          std::int64_t requests) const {
  const std::string text = request("GET", target, "");
  LoadResult result =
      run_load({.port = port_, .connections = connections, .requests = requests, .duration = {}},
               [&](std::int64_t) { return text; });
  if (result.refused > 0) throw BenchFailure("a GET was answered: " + result.first_refusal);
  return result;
}

void ApiClient::wait_until_completed(const JobBatch& batch) const {
  const auto until = std::chrono::steady_clock::now() + kCompletedWithin;
  for (std::int64_t number = 0; number < collections_of(batch); ++number) {
    const std::string target = collection_path(batch, number) + "/jobs" + kVersion +
                               "&$filter=state%20eq%20enabled&$top=1";
    while (true) {
      const Answer answer = ask("GET", target, "");
      if (answer.status != 200) refuse("a list of jobs", answer);
      if (answer.body.find("\"value\":[]") != std::string::npos) break;
      if (std::chrono::steady_clock::now() > until) throw BenchFailure("the jobs do not complete");
      std::this_thread::sleep_for(kAskAgainAfter);
    }
  }
}

void ApiClient::run(const std::string& target) const {
  const auto until = std::chrono::steady_clock::now() + kCompletedWithin;
  while (true) {
    const Answer answer = ask("POST", target, "");
    if (answer.status == 200) return;
    if (answer.status != 409 || std::chrono::steady_clock::now() > until) refuse("run", answer);
    std::this_thread::sleep_for(kAskAgainAfter);
  }
}

}  // namespace belfry
