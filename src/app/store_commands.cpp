// SPDX-License-Identifier: MIT

#include "app/store_commands.h"

#include <fmt/format.h>

#include "app/exit_code.h"
#include "store/durable_file.h"
#include "store/sqlite_upkeep.h"

namespace belfry {
namespace {

constexpr const char* kCheckHelp = R"(
Exit code 0: it is. 1: it is not, and each line says what is wrong, or it cannot be read. The
keys are in secret.key of the store; --key-file names them where they are elsewhere.

Examples:
  belfry check --store /var/lib/belfry
  belfry check --store /var/lib/belfry --key-file /etc/belfry/secret.key)";

constexpr const char* kBackupHelp = R"(
The key that opens the secrets is not in the file: keep a copy of it elsewhere.

Examples:
  belfry backup --store /var/lib/belfry monday.belfry)";

constexpr const char* kRestoreHelp = R"(
The server must be stopped, and the directory must have no database. Put the key file of the
backup's time beside it, or name it with --key-file.

Examples:
  belfry restore --store new-data monday.belfry)";

constexpr const char* kKeyHelp = R"(
The key file holds the keys that seal secrets, newest first; the first one seals. A running
server notices a new one and seals everything anew, without a pause.

Examples:
  belfry key rotate --store /var/lib/belfry
  belfry key list --store /var/lib/belfry     # until the old one "is not used"
  belfry key drop --store /var/lib/belfry)";

int print(const Result<std::string>& done) {
  if (!done) return end_with(kFailed, done.error().message);
  fmt::print("{}\n", *done);
  return kDone;
}

int check(const KeyPlace& store) {
  const auto found = check_store(store.directory, store.key_file);
  if (!found) return end_with(kFailed, found.error().message);
  for (const std::string& problem : found->problems) fmt::print("{}\n", problem);
  if (found->without_mac > 0) {
    fmt::print(
        "{} rows of an older Belfry have no MAC yet: a server gives them theirs, and until "
        "then nobody can tell whether they are as Belfry wrote them.\n",
        found->without_mac);
  }
  if (!found->problems.empty()) return kFailed;
  fmt::print("{} is sound.\n", full_path(store.directory).native());
  const auto left = upkeep_left(store.directory);
  if (!left) return end_with(kFailed, left.error().message);
  if (!left->empty()) fmt::print("{}\n", *left);
  return kDone;
}

}  // namespace

void StoreCommands::add_to(CLI::App& app) {
  check_ = add_command(app, "check",
                       "Say whether a store is sound; the server may be running meanwhile");
  check_->footer(kCheckHelp);
  backup_ = add_command(app, "backup",
                        "Copy a store to one new file; the server may be running meanwhile");
  backup_->footer(kBackupHelp);
  backup_->add_option("FILE", file_, "Where to; it must not exist yet")->type_name("")->required();
  restore_ = add_command(app, "restore", "Make a store of a backup");
  restore_->footer(kRestoreHelp);
  restore_->add_option("FILE", file_, "The backup")->type_name("")->required();
  add_keys(app);
}

CLI::App* StoreCommands::add_command(CLI::App& app, const char* name, const char* help) {
  CLI::App* command = app.add_subcommand(name, help);
  store_.add_to(*command);
  return command;
}

void StoreCommands::add_keys(CLI::App& app) {
  CLI::App* key = app.add_subcommand("key", "Change the keys that seal secrets");
  key->footer(kKeyHelp);
  key->require_subcommand(1);
  keys_ = {
      {add_command(*key, "list", "Show which key seals, and what each has sealed"), &list_keys},
      {add_command(*key, "rotate", "Put a new key in front of the others"), &rotate_key},
      {add_command(*key, "drop", "Remove the keys that nothing is sealed with"), &drop_old_keys},
  };
}

std::optional<int> StoreCommands::run() const {
  if (check_->parsed()) return check(store_.place());
  if (backup_->parsed()) return print(back_up_store(store_.directory, file_, store_.key_file));
  if (restore_->parsed()) return print(restore_store(file_, store_.directory, store_.key_file));
  for (const auto& [command, upkeep] : keys_) {
    if (command->parsed()) return print(upkeep(store_.place()));
  }
  return std::nullopt;
}

}  // namespace belfry
