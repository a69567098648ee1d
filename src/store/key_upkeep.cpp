// SPDX-License-Identifier: MIT

#include "store/key_upkeep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <vector>

#include "store/durable_file.h"
#include "store/key_file.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"

namespace belfry {
namespace {

// A sealed blob begins with a byte and the id of its key (sealer.h).
constexpr char kSecretsOfKey[] = R"(
SELECT count(*) FROM job WHERE ?1 IN (substr(secrets, 2, 8), substr(error_secrets, 2, 8)))";
constexpr char kSecretsOfKeyBefore[] = "SELECT count(*) FROM job WHERE ?1 = substr(secrets, 2, 8)";
constexpr char kInUse[] = "SELECT count(*) FROM sealing WHERE key_id = ?1";

std::filesystem::path file_of(const KeyPlace& place) {
  return place.key_file.empty() ? key_path(place.directory) : place.key_file;
}

// One change at a time: of two that read the same file, the second would lose the first one's
// key, which the server may have sealed with already.
Result<FileDescriptor> lock_directory_of(const std::filesystem::path& file) {
  const auto parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  FileDescriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.open()) return file_error("open", parent);
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  if (errno != EWOULDBLOCK) return file_error("lock", parent);
  return Error{ErrorCode::conflict,
               fmt::format("somebody else is changing {}: try again", file.native()), ""};
}

Result<std::vector<SealingKey>> read_keys(const std::filesystem::path& file) {
  TRY_ASSIGN(auto keys, read_key_file(file));
  if (!keys.empty()) return keys;
  return Error{ErrorCode::invalid,
               fmt::format("there is no key file {}: the server makes one when it first starts",
                           file.native()),
               ""};
}

struct KeyUse {
  bool in_use = false;  // or may be at any moment
  std::int64_t secrets = 0;
};

Result<std::vector<KeyUse>> uses_of(const KeyPlace& place, const std::vector<SealingKey>& keys) {
  TRY_ASSIGN(const auto db, open_database_in(place.directory));
  db->keep_log_on_close();
  if (const auto well = check_schema(*db); !well) return well.error();
  db->run("BEGIN");
  const bool by_role =
      db->value("SELECT 1 FROM pragma_table_info('job') WHERE name = 'error_secrets'").has_value();
  const char* const secrets_of_key = by_role ? kSecretsOfKey : kSecretsOfKeyBefore;
  std::vector<KeyUse> uses;
  for (const SealingKey& key : keys) {
    const auto secrets = db->value(secrets_of_key, Blob{key.id()});
    const auto in_use = db->value(kInUse, Blob{key.id()});
    uses.push_back({in_use.value_or(0) > 0 || secrets.value_or(0) > 0, secrets.value_or(0)});
  }
  db->run("ROLLBACK");
  if (db->failed()) return db->take_failure().error;
  return uses;
}

std::string_view state_of(std::size_t place, const KeyUse& use) {
  if (place == 0) return use.in_use ? "seals" : "is to seal";
  return use.in_use ? "opens" : "is not used";
}

}  // namespace

Result<std::string> list_keys(const KeyPlace& place) {
  TRY_ASSIGN(const auto keys, read_keys(file_of(place)));
  TRY_ASSIGN(const auto uses, uses_of(place, keys));
  std::string table;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table += fmt::format("{}{}  {:11}  {} jobs' secrets", i == 0 ? "" : "\n",
                         shown_key_id(keys[i].id()), state_of(i, uses[i]), uses[i].secrets);
  }
  return table;
}

Result<std::string> rotate_key(const KeyPlace& place) {
  const auto file = file_of(place);
  TRY_ASSIGN(const auto lock, lock_directory_of(file));
  TRY_ASSIGN(auto keys, read_keys(file));
  if (keys.size() >= kSealingKeysMax) {
    return Error{ErrorCode::conflict,
                 fmt::format("{} holds {} keys already: drop the old ones first", file.native(),
                             keys.size()),
                 ""};
  }
  TRY_ASSIGN(const SealingKey key, SealingKey::random());
  keys.insert(keys.begin(), key);
  if (const auto done = replace_key_file(file, keys); !done) return done.error();
  return fmt::format(
      "The key {} was added to {}. The server takes it up within seconds, or when it starts, and "
      "seals all secrets anew; `belfry key list` shows how far it is. Keep a copy of the file "
      "now, apart from backups.",
      shown_key_id(key.id()), file.native());
}

Result<std::string> drop_old_keys(const KeyPlace& place) {
  const auto file = file_of(place);
  TRY_ASSIGN(const auto lock, lock_directory_of(file));
  TRY_ASSIGN(const auto keys, read_keys(file));
  TRY_ASSIGN(const auto uses, uses_of(place, keys));
  // A server that has not taken it up may seal with an older one at any moment.
  if (keys.size() > 1 && !uses.front().in_use) {
    return Error{ErrorCode::conflict,
                 fmt::format("no server has taken up the key {} yet: start one, and wait until "
                             "`belfry key list` says that it seals",
                             shown_key_id(keys.front().id())),
                 ""};
  }
  std::vector<SealingKey> kept;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || uses[i].in_use) kept.push_back(keys[i]);
  }
  const std::size_t dropped = keys.size() - kept.size();
  if (dropped == 0) return std::string("There is no key that nothing is sealed with.");
  if (const auto done = replace_key_file(file, kept); !done) return done.error();
  return fmt::format(
      "Dropped {} of {} keys. Backups that were made before need them: keep an older copy of {} as "
      "long as you keep those.",
      dropped, keys.size(), file.native());
}

}  // namespace belfry
