// SPDX-License-Identifier: MIT
//
// The command line of the one binary. Each command is read here and done elsewhere.
//
// Exit codes: 0 done; 1 it could not be done; 2 the command or its input was wrong.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/access_commands.h"
#include "app/bench_command.h"
#include "app/job_commands.h"
#include "app/preview.h"
#include "app/remote.h"
#include "app/serve.h"
#include "app/settings.h"
#include "app/version.h"
#include "base/clock.h"
#include "store/key_upkeep.h"
#include "store/sqlite_upkeep.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongInput = 2;

int complain(const std::string& message) {
  fmt::print(stderr, "belfry: {}\n", message);
  return kWrongInput;
}

int fail(const std::string& message) {
  complain(message);
  return kFailed;
}

// A file's text, or standard input's for "-"; none when it cannot be read or is too large.
std::optional<std::string> read_text(const std::string& path, std::size_t bytes_max) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (!in) return std::nullopt;
  std::string text(bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad() || text.size() > bytes_max) return std::nullopt;
  return text;
}

struct PreviewCommand {
  std::string file = "-";
  std::string now;
  std::size_t count = 10;
  bool json = false;
};

int run_preview(const PreviewCommand& command) {
  const auto now =
      command.now.empty() ? std::optional<Instant>(WallClock{}.now()) : parse_instant(command.now);
  if (!now) {
    return complain(fmt::format(
        "--now must be a date and time such as 2030-01-31T09:00:00Z; it is '{}'.", command.now));
  }
  if (command.file == "-" && isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "belfry: reading a job from standard input; end it with Ctrl-D.\n");
  }
  const auto text = read_text(command.file, kPreviewFileBytesMax);
  if (!text) {
    return complain(fmt::format("cannot read '{}', or it is larger than {} bytes.", command.file,
                                kPreviewFileBytesMax));
  }
  const PreviewAnswer answer =
      preview(*text, {.now = *now, .count = command.count, .json = command.json});
  std::fputs(answer.complaints.c_str(), stderr);
  std::fputs(answer.output.c_str(), stdout);
  return answer.understood ? kDone : kWrongInput;
}

constexpr const char* kPreviewHelp = R"(
Reads a job's JSON: the whole resource, its "properties", or only "startTime" and
"recurrence". Comments and trailing commas are allowed. Prints one instant a line, in UTC;
a job that is due at once prints the time of --now.

Examples:
  belfry preview job.json
  belfry preview --count 3 --now 2030-01-01T00:00Z job.json
  echo '{"recurrence": {"frequency": "day", "schedule": {"hours": [9], "minutes": [0]}}}' \
    | belfry preview

Exit code: 0, or 2 when the job is wrong; what is wrong is said on standard error, one
line for each rule that it breaks.)";

constexpr const char* kHelp = R"(
`belfry serve` starts a server on this machine and prints what to do next; `belfry COMMAND
--help` says more about a command, with examples. As an installed service it is set up in
/etc/belfry/belfry.toml, and the manual page is belfry(1).

Exit codes: 0 done; 1 it could not be done; 2 the command or its input was wrong.)";

constexpr const char* kServeHelp = R"(
Runs until Ctrl-C or SIGTERM; then it finishes what is under way and ends with exit code 0.
Each setting is a flag here, a variable in the environment (BELFRY_LISTEN, BELFRY_STORE, …)
or a line of a TOML file (--config); the first of these that names it wins.

Examples:
  belfry serve
  belfry serve --listen 127.0.0.1:8080 --store /var/lib/belfry
  belfry serve --config /etc/belfry.toml)";

std::optional<std::string> from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

// A flag for each setting, the same for all commands that know settings.
struct SettingFlags {
  std::map<std::string, std::string> values;
  std::string config_file;

  void add_to(CLI::App* app) {
    app->add_option("--config", config_file, "A TOML file with settings")->type_name("FILE");
    for (const SettingRule& rule : setting_rules()) {
      const std::string name(rule.name);
      if (rule.value_name.empty()) {
        app->add_flag_callback(
            "--" + name, [this, name] { values[name] = "yes"; }, std::string(rule.help));
        continue;
      }
      app->add_option_function<std::string>(
             "--" + name, [this, name](const std::string& value) { values[name] = value; },
             std::string(rule.help))
          ->type_name(std::string(rule.value_name))
          ->default_str(rule.fallback.size() < 30 ? std::string(rule.fallback) : "…");
    }
  }

  Result<std::vector<Setting>> resolve() const {
    SettingSources sources{values, from_environment, std::nullopt};
    if (!config_file.empty()) {
      sources.config_file = config_file;
    } else {
      sources.config_file = from_environment("BELFRY_CONFIG");
    }
    return resolve_settings(sources);
  }
};

int run_config(const SettingFlags& flags) {
  const auto settings = flags.resolve();
  if (!settings) return complain(settings.error().message);
  fmt::print("{}", settings_table(*settings));
  const auto understood = read_settings(*settings);
  return understood ? kDone : complain(understood.error().message);
}

int run_serve(const SettingFlags& flags) {
  const auto settings = flags.resolve();
  if (!settings) return complain(settings.error().message);
  const auto understood = read_settings(*settings);
  if (!understood) return complain(understood.error().message);
  const Status served = serve(*understood);
  if (served) return kDone;
  return fail(served.error().message);
}

// What a container's health check runs.
int run_ready(const Remote& remote) {
  const auto answer = ask(remote, {.target = "/readyz"});
  if (!answer) return fail(answer.error().message);
  fmt::print("{} is ready.\n", remote.server);
  return kDone;
}

int run_check(const KeyPlace& store) {
  const auto problems = check_store(store.directory, store.key_file);
  if (!problems) return fail(problems.error().message);
  for (const std::string& problem : *problems) fmt::print("{}\n", problem);
  if (!problems->empty()) return kFailed;
  fmt::print("{} is sound.\n", store.directory.native());
  return kDone;
}

int run_backup(const KeyPlace& store, const std::string& file) {
  const auto done = back_up_store(store.directory, file, store.key_file);
  if (!done) return fail(done.error().message);
  fmt::print("{}\n", *done);
  return kDone;
}

int run_restore(const std::string& file, const KeyPlace& store) {
  const auto done = restore_store(file, store.directory, store.key_file);
  if (!done) return fail(done.error().message);
  fmt::print("{}\n", *done);
  return kDone;
}

// The three that `belfry key` does.
using KeyUpkeep = Result<std::string> (*)(const KeyPlace&);

int run_key(KeyUpkeep upkeep, const KeyPlace& place) {
  const auto done = upkeep(place);
  if (!done) return fail(done.error().message);
  fmt::print("{}\n", *done);
  return kDone;
}

constexpr const char* kKeyHelp = R"(
The key file holds the keys that seal secrets, newest first; the first one seals. A running
server notices a new one and seals everything anew, without a pause.

Examples:
  belfry key rotate --store /var/lib/belfry
  belfry key list --store /var/lib/belfry     # until the old one "is not used"
  belfry key drop --store /var/lib/belfry)";

int run(int argc, char** argv) {
  CLI::App app(
      "Belfry rings on time: a self-hosted job scheduler that speaks Azure "
      "Scheduler's REST API.",
      "belfry");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());

  SettingFlags setting_flags;
  auto* serve_app = app.add_subcommand("serve", "Run the server: REST API and scheduler");
  serve_app->footer(kServeHelp);
  setting_flags.add_to(serve_app);
  auto* config_app =
      app.add_subcommand("config", "Print the settings in force and where each came from");
  setting_flags.add_to(config_app);

  Remote ready_remote;
  auto* ready_app =
      app.add_subcommand("ready", "Say whether a server takes writes and starts jobs");
  ready_app->add_option("--server", ready_remote.server, "Where the server is")
      ->envname("BELFRY_SERVER")
      ->capture_default_str();
  ready_app->add_option("--ca-file", ready_remote.ca_file,
                        "Authorities (PEM) besides the system's");

  PreviewCommand preview_command;
  auto* preview_app = app.add_subcommand("preview", "Say when a job would run, without a server");
  preview_app->footer(kPreviewHelp);
  preview_app->add_option("file", preview_command.file, "The job; - is standard input")
      ->type_name("FILE");
  preview_app->add_option("--now", preview_command.now, "Pretend that it is this time")
      ->type_name("TIME");
  preview_app->add_option("--count", preview_command.count, "How many instants at most")
      ->check(CLI::Range(std::size_t{1}, kPreviewCountMax))
      ->capture_default_str();
  preview_app->add_flag("--json", preview_command.json, "Print a JSON array");

  std::string directory = "belfry-data";
  std::string file;
  std::string key_file;
  const auto add_directory = [&directory, &key_file](CLI::App* command) {
    command->add_option("--store", directory, "The directory of the embedded database")
        ->type_name("DIR")
        ->envname("BELFRY_STORE")
        ->capture_default_str();
    command->add_option("--key-file", key_file, "Where the keys are, if not in the store")
        ->type_name("FILE")
        ->envname("BELFRY_KEY_FILE");
  };
  auto* check_app = app.add_subcommand(
      "check", "Say whether a store is sound; the server may be running meanwhile");
  add_directory(check_app);
  auto* backup_app = app.add_subcommand(
      "backup", "Copy a store to one new file; the server may be running meanwhile");
  add_directory(backup_app);
  backup_app->add_option("file", file, "Where to; it must not exist yet")->required();
  auto* restore_app = app.add_subcommand("restore", "Make a store of a backup");
  add_directory(restore_app);
  restore_app->add_option("file", file, "The backup")->required();

  AccessCommands access_commands;
  access_commands.add_to(app);
  JobCommands job_commands;
  job_commands.add_to(app);

  auto* key_app = app.add_subcommand("key", "Change the keys that seal secrets");
  key_app->footer(kKeyHelp);
  key_app->require_subcommand(1);
  std::map<CLI::App*, KeyUpkeep> key_apps = {
      {key_app->add_subcommand("list", "Show which key seals, and what each has sealed"),
       &list_keys},
      {key_app->add_subcommand("rotate", "Put a new key in front of the others"), &rotate_key},
      {key_app->add_subcommand("drop", "Remove the keys that nothing is sealed with"),
       &drop_old_keys},
  };
  for (const auto& [command, upkeep] : key_apps) add_directory(command);

  BenchCommand bench_command;
  bench_command.add_to(app);

  auto* version_app = app.add_subcommand("version", "Print version, commit and compiler");

  app.footer(kHelp);  // now, or every command would take it over

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongInput;
  }
  if (serve_app->parsed()) return run_serve(setting_flags);
  if (config_app->parsed()) return run_config(setting_flags);
  if (preview_app->parsed()) return run_preview(preview_command);
  if (ready_app->parsed()) return run_ready(ready_remote);
  if (check_app->parsed()) return run_check({directory, key_file});
  if (backup_app->parsed()) return run_backup({directory, key_file}, file);
  if (restore_app->parsed()) return run_restore(file, {directory, key_file});
  if (const auto code = access_commands.run()) return *code;
  if (const auto code = job_commands.run()) return *code;
  for (const auto& [command, upkeep] : key_apps) {
    if (command->parsed()) return run_key(upkeep, {directory, key_file});
  }
  if (const auto code = bench_command.run()) return *code;
  if (version_app->parsed()) {
    fmt::print("{}\n", version_text());
    return kDone;
  }
  return kFailed;
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  return belfry::run(argc, argv);
}
