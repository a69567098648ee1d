// SPDX-License-Identifier: MIT

#include "app/greeting.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "app/version.h"
#include "store/durable_file.h"

namespace belfry {
namespace {

std::string shown_host(const ServeSettings& settings) {
  return settings.host.find(':') == std::string::npos ? settings.host : "[" + settings.host + "]";
}

const char* curl_of(const ServeSettings& settings) {
  return settings.local_mode() ? "curl" : "curl -H \"Authorization: Bearer $BELFRY_TOKEN\"";
}

// Two commands that make a job, and two that look at it.
std::string commands_to_paste(const ServeSettings& settings, const std::string& server) {
  const bool local = settings.local_mode();
  const std::string base = server +
                           "/subscriptions/me/resourceGroups/home/providers/Microsoft.Scheduler/"
                           "jobCollections/first";
  const std::string target = local ? server + "/healthz" : "https://example.com/";
  const char* const curl = curl_of(settings);
  return fmt::format(
      "Make a job collection and a job that calls a page every minute; paste this:\n\n"
      "  {0} -X PUT '{1}?api-version=2016-03-01' \\\n"
      "    -d '{{\"location\":\"here\",\"properties\":{{\"sku\":{{\"name\":\"Standard\"}}}}}}'\n"
      "  {0} -X PUT '{1}/jobs/hello?api-version=2016-03-01' \\\n"
      "    -d '{{\"properties\":{{\"action\":{{\"type\":\"Http\",\"request\":{{\"method\":\"GET\","
      "\"uri\":\"{2}\"}}}},"
      "\"recurrence\":{{\"frequency\":\"Minute\"}}}}}}'\n\n"
      "Then look at it, and at its history:\n\n"
      "  {0} '{1}/jobs/hello?api-version=2016-03-01'\n"
      "  {0} '{1}/jobs/hello/history?api-version=2016-03-01'\n\n",
      curl, base, target);
}

void show_token(const ServeSettings& settings, const FirstToken& first_token) {
  if (first_token.token) {
    fmt::print(
        "No owner has a token yet. Here is one; it is shown this once:\n\n"
        "  export BELFRY_TOKEN={}\n\n",
        first_token.token->reveal());
  } else if (first_token.in_file) {
    fmt::print("No owner has a token yet. One is in {}; take it from there and remove it.\n\n",
               settings.first_token_file);
  }
}

// Whoever has jobs has seen the rest.
void show_place(const ServeSettings& settings, const std::string& server, const JobCounts& jobs) {
  const std::int64_t count = jobs.enabled + jobs.disabled + jobs.completed + jobs.faulted;
  fmt::print("Serving on {} ({}).\nJobs and history are kept in {}{}.\n", server,
             settings.local_mode() ? "local mode: everybody on this machine may do everything"
                                   : "requests need an access token",
             full_path(settings.store_directory).native(),
             count == 0 ? "" : fmt::format("; jobs: {}", count));
  if (count == 0) fmt::print("\n{}", commands_to_paste(settings, server));
  if (settings.held) fmt::print("It is held: it sends nothing, whatever falls due.\n\n");
  if (settings.virtual_clock) {
    fmt::print(
        "The clock stands at {}. Nothing is sent before this moves it for the first time, through "
        "everything that falls due (PT0S is a move too):\n\n"
        "  {} -X POST '{}/clock' -d '{{\"advance\": \"PT1H\"}}'\n\n",
        format_instant(*settings.virtual_clock), curl_of(settings), server);
  }
  fmt::print("Ctrl-C stops it, after what is under way is finished.\n");
}

}  // namespace

void greet(const ServeSettings& settings, std::uint16_t port, const FirstToken& first_token,
           const JobCounts& jobs) {
  const std::string server =
      fmt::format("{}://{}:{}", settings.tls ? "https" : "http", shown_host(settings), port);
  const bool for_people = settings.log_format == LogFormat::text;
  if (for_people) fmt::print("{}\n", version_text());
  show_token(settings, first_token);
  if (for_people) show_place(settings, server, jobs);
  std::fflush(stdout);
}

}  // namespace belfry
