// SPDX-License-Identifier: MIT
//
// The command line of the one binary. Each command is read and done elsewhere.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "app/access_commands.h"
#include "app/bench_command.h"
#include "app/cli_command.h"
#include "app/complaint.h"
#include "app/exit_code.h"
#include "app/job_commands.h"
#include "app/preview_command.h"
#include "app/serve_commands.h"
#include "app/store_commands.h"
#include "app/version.h"

namespace belfry {
namespace {

constexpr const char* kHelp = R"(
`belfry serve` starts a server on this machine and prints what to do next; `belfry COMMAND
--help` says more about a command. As an installed service it is set up in
/etc/belfry/belfry.toml, and the manual page is belfry(1).

Examples:
  belfry serve
  belfry job list
  belfry version

Exit codes: 0 done; 1 it could not be done; 2 the command or its input was wrong.)";

int run(int argc, char** argv) {
  CLI::App app(
      "Belfry rings on time: a self-hosted job scheduler that speaks Azure "
      "Scheduler's REST API.",
      "belfry");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.failure_message(complaint);

  ServeCommands serve;
  JobCommands job;
  PreviewCommand preview;
  AccessCommands access;
  StoreCommands store;
  BenchCommand bench;
  const std::initializer_list<CliCommand*> commands = {&serve,  &job,   &preview,
                                                       &access, &store, &bench};
  for (CliCommand* command : commands) command->add_to(app);
  app.add_subcommand("version", "Print version, commit and compiler");
  app.footer(kHelp);  // now, or every command would take it over

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongInput;
  }
  for (const CliCommand* command : commands) {
    if (const auto code = command->run()) return *code;
  }
  fmt::print("{}\n", version_text());
  return kDone;
}

// What was printed may not have arrived: a disk is full, and a token is shown only once.
int with_output(int code) {
  if (code != kDone || std::fflush(stdout) == 0) return code;
  return end_with(kFailed,
                  fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  try {
    return belfry::with_output(belfry::run(argc, argv));
  } catch (const std::exception& exception) {
    // Not by fmt::print(), which throws where nothing can be written.
    std::fprintf(stderr, "belfry: %s\n", exception.what());
    return belfry::kFailed;
  }
}
