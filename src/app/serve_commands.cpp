// SPDX-License-Identifier: MIT

#include "app/serve_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include "app/environment.h"
#include "app/exit_code.h"
#include "app/serve.h"
#include "app/variables.h"

namespace belfry {
namespace {

constexpr const char* kServeHelp = R"(
Runs until Ctrl-C or SIGTERM; then it finishes what is under way and ends with exit code 0.
Each setting is a flag here, a variable in the environment (BELFRY_LISTEN, BELFRY_STORE, …)
or a line of a TOML file (--config, BELFRY_CONFIG); the first of these that names it wins.

Examples:
  belfry serve
  belfry serve --listen 127.0.0.1:8080 --store /var/lib/belfry
  belfry serve --config /etc/belfry/belfry.toml
  belfry serve --virtual-clock 2030-01-01T00:00Z --store trial   # try out a schedule)";

constexpr const char* kConfigHelp = R"(
Prints one setting a line, as a TOML file has it, and where its value came from; then it says
what is wrong with them, as `belfry serve` would, with exit code 2.

Examples:
  belfry config
  belfry config --listen 127.0.0.1:8080)";

constexpr const char* kReadyHelp = R"(
Exit code 0: it is. 1: it is not, or cannot be asked; the reason is on standard error. It is
what a health check should run.

Examples:
  belfry ready
  belfry ready --server http://127.0.0.1:7070)";

// As many characters as leave room for the flag's name.
constexpr std::size_t kShownDefaultMax = 30;

}  // namespace

void ServeCommands::add_to(CLI::App& app) {
  serve_ = app.add_subcommand("serve", "Run the server: REST API and scheduler");
  serve_->footer(kServeHelp);
  add_settings(*serve_);
  config_ = app.add_subcommand("config", "Print the settings in force and where each came from");
  config_->footer(kConfigHelp);
  add_settings(*config_);
  ready_ = app.add_subcommand("ready", "Say whether a server takes writes and starts jobs");
  ready_->footer(kReadyHelp);
  remote_flags_.add_to(*ready_);
}

void ServeCommands::add_settings(CLI::App& command) {
  command.add_option("--config", config_file_, "a TOML file with settings")->type_name("FILE");
  for (const SettingRule& rule : setting_rules()) {
    const std::string name(rule.name);
    if (rule.value_name.empty()) {
      command.add_flag_callback(
          "--" + name, [this, name] { flags_[name] = "yes"; }, std::string(rule.help));
      continue;
    }
    const bool fits = rule.fallback.size() < kShownDefaultMax;
    command
        .add_option_function<std::string>(
            "--" + name, [this, name](const std::string& value) { flags_[name] = value; },
            std::string(rule.help))
        ->type_name(std::string(rule.value_name))
        ->default_str(fits ? std::string(rule.fallback) : "...");
  }
}

std::optional<int> ServeCommands::run() const {
  if (serve_->parsed()) return run_serve();
  if (config_->parsed()) return run_config();
  if (ready_->parsed()) return run_ready();
  return std::nullopt;
}

Result<std::vector<Setting>> ServeCommands::resolve() const {
  SettingSources sources{flags_, from_environment, from_environment("BELFRY_CONFIG")};
  if (!config_file_.empty()) sources.config_file = config_file_;
  return resolve_settings(sources);
}

int ServeCommands::run_serve() const {
  const auto settings = resolve();
  if (!settings) return end_with(kWrongInput, settings.error().message);
  const auto understood = read_settings(*settings);
  if (!understood) return end_with(kWrongInput, understood.error().message);
  const Status served = serve(*understood);
  return served ? kDone : end_with(kFailed, served.error().message);
}

int ServeCommands::run_config() const {
  const auto settings = resolve();
  if (!settings) return end_with(kWrongInput, settings.error().message);
  fmt::print("{}", settings_table(*settings));
  tell_of_unknown_variables(environ, [](const std::string& name, const std::string& guess) {
    fmt::print(stderr, "belfry: there is no setting for the variable {}{}\n", name,
               guess.empty() ? "." : fmt::format("; did you mean {}?", guess));
  });
  const auto understood = read_settings(*settings);
  return understood ? kDone : end_with(kWrongInput, understood.error().message);
}

int ServeCommands::run_ready() const {
  const auto answer = ask(remote_flags_.remote(), {.target = "/readyz"});
  if (!answer) return end_with(kFailed, answer.error().message);
  fmt::print("{} is ready.\n", remote_flags_.server);
  return kDone;
}

}  // namespace belfry
