// SPDX-License-Identifier: MIT

#include "app/complaint.h"

#include <fmt/format.h>

#include "app/nearest.h"

namespace belfry {
namespace {

// The command that the words named, as far as they did.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// "belfry job list"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string with_guess(std::string sentence, const std::string& guess) {
  return guess.empty() ? sentence + "." : fmt::format("{}; did you mean '{}'?", sentence, guess);
}

std::string not_expected(const CLI::App& command, const std::string& word) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return with_guess(fmt::format("`{}` has no flag '{}'", full_name(command), name),
                      nearest(name, flags_of(command)));
  }
  const auto commands = commands_of(command);
  if (commands.empty()) {
    return fmt::format("`{}` does not know what to do with '{}'.", full_name(command), word);
  }
  return with_guess(fmt::format("`{}` has no command '{}'", full_name(command), word),
                    nearest(word, commands));
}

// Everything that was left out, with what it is for.
std::string missing(const CLI::App& command) {
  std::string list;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", option->get_name(),
                        option->get_description());
  }
  return list;
}

std::string what_is_wrong(const CLI::App& command, const CLI::Error& error) {
  const auto unknown = command.remaining();
  if (!unknown.empty()) return not_expected(command, unknown.front());
  const auto is = [&error](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string what = error.what();  // "--listen: 1 required HOST:PORT missing"
    return what.substr(0, what.find(':')) + " needs a value.";
  }
  if (is(CLI::ExitCodes::RequiredError)) {
    if (const std::string list = missing(command); !list.empty()) {
      return fmt::format("`{}` needs {}.", full_name(command), list);
    }
    return fmt::format("`{}` needs one of {}.", full_name(command),
                       fmt::join(commands_of(command), ", "));
  }
  return error.what();
}

}  // namespace

std::string complaint(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = innermost(*app);
  return fmt::format("belfry: {}\n`{} --help` says more, with examples.\n",
                     what_is_wrong(command, error), full_name(command));
}

}  // namespace belfry
