// SPDX-License-Identifier: MIT

#include "store/sqlite_open.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/durable_file.h"
#include "store/sqlite_copy.h"
#include "store/sqlite_genuine.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_schema.h"

namespace belfry {

namespace {

// Tells the path in front of what is wrong with it.
Error at(const std::filesystem::path& path, const Error& error) {
  return {error.code, fmt::format("{}: {}", path.native(), error.message), error.target};
}

Error not_copied(const std::filesystem::path& directory, const std::filesystem::path& copy,
                 std::string_view why) {
  return {
      ErrorCode::invalid,
      fmt::format("the database is of an older version and would be copied aside before it is "
                  "brought up to date, but {0}. Make a backup (belfry backup --store {1} FILE), "
                  "keep it, and say that it is there: touch {2}",
                  why, directory.native(), copy.native()),
      ""};
}

// What is brought up to date cannot be taken back to the older version: it stays beside it as it
// was, or somebody has said that there is a backup.
Status copy_aside(Connection& db, const std::filesystem::path& directory, std::int64_t schema) {
  const std::filesystem::path copy =
      fmt::format("{}.schema{}", database_path(directory).native(), schema);
  std::error_code unreadable;
  if (std::filesystem::exists(std::filesystem::symlink_status(copy, unreadable))) return Done{};
  const auto bytes = static_cast<std::uint64_t>(
      db.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
          .value_or(0));
  if (const auto known = db.take_status(); !known) return known;
  if (bytes > kCopiedAsideBytesMax) return not_copied(directory, copy, "it is too large for that");
  if (std::filesystem::space(directory, unreadable).available < bytes) {
    return not_copied(directory, copy, "there is no room for that");
  }
  return copy_database(db, copy);
}

// A new database is complete: all of its rows have their MAC. One of an older version is not yet.
Status bring_up_to_date(Connection& db, const Sealer& sealer, const SqliteOptions& options) {
  const auto version = db.value("PRAGMA user_version").value_or(0);
  if (0 < version && version < schema_version()) {
    if (const auto kept = copy_aside(db, options.directory, version); !kept) return kept;
  }
  StoreSeal seal{.key_ids = keys_in_use(db), .complete = version == 0};
  const std::string newest = sealer.sealing_key_id();
  if (std::ranges::find(seal.key_ids, newest) == seal.key_ids.end()) seal.key_ids.push_back(newest);
  if (const auto done = migrate(db, [&](Connection& in) { write_seal(in, sealer, seal); }); !done) {
    return done.error();
  }
  // That the first key seals must be known before it does (sqlite_reseal.h).
  db.execute("BEGIN IMMEDIATE");
  remember_key(db, sealer, newest);
  db.execute("COMMIT");
  return db.take_status();
}

}  // namespace

std::filesystem::path database_path(const std::filesystem::path& directory) {
  return directory / "belfry.db";
}

std::filesystem::path key_path(const std::filesystem::path& directory) {
  return directory / "secret.key";
}

// SQLite follows links where it opens a database.
Status expect_database_files(const std::filesystem::path& directory) {
  for (const char* const of : {"", "-wal", "-shm"}) {
    const auto no_link = expect_no_link(database_path(directory).native() + of);
    if (!no_link) return no_link;
  }
  return Done{};
}

// SQLite would make it with the permissions of the process; the log takes those of the file.
Status make_database_file(const SqliteOptions& options) {
  const auto path = database_path(options.directory);
  if (const auto ours = expect_database_files(options.directory); !ours) return ours;
  if (!options.vfs.empty()) return Done{};
  TRY_ASSIGN(const bool made_before, is_there(path));
  if (made_before) return Done{};
  if (const auto made = make_private_file(path); !made) return made.error();
  return Done{};
}

std::filesystem::path key_file_of(const SqliteOptions& options) {
  return options.key_file.empty() ? key_path(options.directory) : options.key_file;
}

Result<OpenedWriter> open_writer(const SqliteOptions& options) {
  const auto path = database_path(options.directory);
  TRY_ASSIGN(auto db, Connection::open(path.native(), OpenMode::create, options.vfs));
  if (const auto well = check_schema(*db); !well) return at(path, well.error());
  TRY_ASSIGN(Sealer sealer, open_sealer(key_file_of(options), *db));
  if (const auto done = configure_writer(*db); !done) return at(path, done.error());
  const auto current = bring_up_to_date(*db, sealer, options);
  if (!current) return at(path, current.error());
  if (const auto genuine = expect_genuine(*db, sealer); !genuine) return at(path, genuine.error());
  // Whatever the log holds is written to the database anew: after a sync that failed, nobody
  // knows what of the log is on the disk, however well it reads.
  db->checkpoint_and_truncate();
  if (const auto done = db->take_status(); !done) return at(path, done.error());
  if (const auto done = sync_directory(options.directory); !done) return done.error();
  return OpenedWriter{std::move(db), std::move(sealer)};
}

Result<std::unique_ptr<Connection>> open_second_writer(const SqliteOptions& options) {
  const auto path = database_path(options.directory);
  TRY_ASSIGN(auto db, Connection::open(path.native(), OpenMode::existing, options.vfs));
  if (const auto done = configure_writer(*db); !done) return at(path, done.error());
  return db;
}

Result<std::unique_ptr<Connection>> open_reader(const SqliteOptions& options) {
  const auto path = database_path(options.directory);
  TRY_ASSIGN(auto db, Connection::open(path.native(), OpenMode::existing, options.vfs));
  if (const auto done = configure_reader(*db); !done) return at(path, done.error());
  return db;
}

}  // namespace belfry
