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

constexpr const char* kTokenHelp = R"(
The server is asked, so that a revocation holds from the next request on: --server or
BELFRY_SERVER says where it is, BELFRY_TOKEN who asks (--token too, but other users of this
machine can see flags).

Examples:
  belfry token create --name ci --role Contributor --scope /subscriptions/me --expires P90D
  belfry token list
  belfry token revoke 0123456789abcdef)";

// `belfry token` and `belfry audit`.
class AccessCommands {
 public:
  void add_to(CLI::App& app) {
    auto* tokens = app.add_subcommand("token", "Make, list and revoke access tokens");
    tokens->require_subcommand(1);
    tokens->footer(kTokenHelp);
    create_app_ = tokens->add_subcommand("create", "Make a token, and print it this once");
    create_app_->add_option("--name", create_.name, "What it is for")->required();
    create_app_->add_option("--role", create_.roles, "Reader, Operator, Contributor or Owner")
        ->required();
    create_app_
        ->add_option("--scope", create_.scopes, "/, /subscriptions/S, … or a collection's id")
        ->required();
    create_app_->add_option("--expires", create_.expires, "A date, or a duration such as P90D");
    create_app_
        ->add_option("--store", create_.store,
                     "Write into this store instead; its server must be stopped")
        ->type_name("DIR");
    create_app_->add_option("--key-file", create_.key_file, "The store's key, if it is elsewhere");
    list_app_ = tokens->add_subcommand("list", "Say which tokens there are");
    list_app_->add_flag("--json", json_, "Print a JSON array");
    revoke_app_ = tokens->add_subcommand("revoke", "Let a token be good for nothing, at once");
    revoke_app_->add_option("id", id_, "Its id, as the list says")->required();

    auto* audit = app.add_subcommand("audit", "Read the log of changes, and check it");
    audit->require_subcommand(1);
    audit_app_ = audit->add_subcommand("list", "Print the newest changes");
    audit_app_->add_option("--scope", audit_.scope, "Only what is in this scope");
    audit_app_->add_option("--count", audit_.count, "How many at most")->capture_default_str();
    audit_app_->add_flag("--json", audit_.json, "Print a JSON array");
    verify_app_ = audit->add_subcommand("verify", "Say whether a row was altered or removed");
    verify_app_->add_option("--store", verify_.store, "The directory of the embedded database")
        ->envname("BELFRY_STORE")
        ->required();
    verify_app_->add_option("--expect", verify_.expect, "NUMBER:HASH that an earlier run printed");
    for (CLI::App* asking : {create_app_, list_app_, revoke_app_, audit_app_}) add_remote(asking);
  }

  // None: it was another command.
  std::optional<int> run() {
    if (verify_app_->parsed()) return verify_audit(verify_);
    if (create_app_->parsed()) return create_token(remote_of(create_app_), create_);
    if (list_app_->parsed()) return list_tokens(remote_of(list_app_), json_);
    if (revoke_app_->parsed()) return revoke_token(remote_of(revoke_app_), id_);
    if (audit_app_->parsed()) return list_audit(remote_of(audit_app_), audit_);
    return std::nullopt;
  }

 private:
  struct RemoteFlags {
    Remote remote;
    std::string token;
  };

  // Each command has its own: CLI11 reads the environment into the flags of those too that were
  // not given.
  void add_remote(CLI::App* command) {
    RemoteFlags& flags = remotes_[command];
    command->add_option("--server", flags.remote.server, "Where the server is")
        ->envname("BELFRY_SERVER")
        ->capture_default_str();
    command->add_option("--token", flags.token, "Who asks")->envname("BELFRY_TOKEN");
    command->add_option("--ca-file", flags.remote.ca_file,
                        "Authorities (PEM) besides the system's");
  }

  Remote remote_of(const CLI::App* command) const {
    const RemoteFlags& flags = remotes_.at(command);
    Remote remote = flags.remote;
    remote.token = Secret(flags.token);
    return remote;
  }

  std::map<const CLI::App*, RemoteFlags> remotes_;
  TokenCreate create_;
  bool json_ = false;
  std::string id_;
  AuditList audit_;
  AuditVerify verify_;
  CLI::App* create_app_ = nullptr;
  CLI::App* list_app_ = nullptr;
  CLI::App* revoke_app_ = nullptr;
  CLI::App* audit_app_ = nullptr;
  CLI::App* verify_app_ = nullptr;
};

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
