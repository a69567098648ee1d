// SPDX-License-Identifier: MIT

#include "app/bench_command.h"

#include "app/environment.h"
#include "app/flags.h"

namespace belfry {
namespace {

constexpr const char* kHelp = R"(
Starts a server with a store of its own and measures it over loopback: durable creates, reads,
lateness, a herd, a due backlog with real HTTP calls; every execution is recorded. Server, load
and target share this machine, so compare figures of one run with one another, and with the
fdatasync that is printed first.

Examples:
  belfry bench --quick
  belfry bench --only executions --backlog 100000
  belfry bench --store-dir /var/lib --json
  belfry bench --port 7070        # a server that is running here; what was made is deleted

Exit code: 0, or 1 when something could not be measured. Targets are met or MISSED in the
table; that does not change the exit code.)";

}  // namespace

void BenchCommand::add_to(CLI::App& app) {
  auto* command = app.add_subcommand("bench", "Measure how fast Belfry is on this machine");
  command->footer(kHelp);
  options_.token = from_environment_or("BELFRY_TOKEN", "");
  command->add_flag("--quick", quick_, "A tenth of everything");
  command->add_flag("--json", options_.json, "Print a JSON object a line");
  command->add_option("--only", options_.only, "What has this in its name")->type_name("TEXT");
  command->add_option("--store-dir", store_parent_, "Make the store below this directory")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("--port", options_.server_port, "Measure the server on this port instead")
      ->type_name("PORT");
  command->add_option("--token", options_.token, "Who asks that server (BELFRY_TOKEN)")
      ->type_name("TOKEN");
  const auto add_size = [command](const char* name, std::int64_t& size, const char* help) {
    command->add_option(name, size, help)
        ->check(integer_from(1, kBenchJobsMax))
        ->type_name("N")
        ->capture_default_str();
  };
  add_size("--backlog", options_.backlog, "Jobs of the due backlog");
  add_size("--spread", options_.spread, "Jobs that are due one after the other");
  command->add_option("--spread-seconds", options_.spread_seconds, "Over so long")
      ->check(integer_from(1, 3600))
      ->type_name("N")
      ->capture_default_str();
  add_size("--herd", options_.herd, "Jobs that are due in one instant");
  add_size("--requests", options_.requests, "Requests of each measurement of the API");
  app_ = command;
}

std::optional<int> BenchCommand::run() const {
  if (!app_->parsed()) return std::nullopt;
  BenchOptions options = options_;
  options.store_parent = store_parent_;
  if (quick_) options.make_quick();
  return run_bench(options);
}

}  // namespace belfry
