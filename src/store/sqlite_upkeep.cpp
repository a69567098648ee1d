// SPDX-License-Identifier: MIT

#include "store/sqlite_upkeep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <optional>

#include "store/directory_lock.h"
#include "store/durable_file.h"
#include "store/key_file.h"
#include "store/sqlite_copy.h"
#include "store/sqlite_echoes.h"
#include "store/sqlite_genuine.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"

namespace belfry {

namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

std::filesystem::path place_of_key(const std::filesystem::path& directory,
                                   const std::filesystem::path& key_file) {
  return key_file.empty() ? key_path(directory) : key_file;
}

// What SQLite cannot know of our tables: each counts rows that ought not to be.
struct Rule {
  const char* violations;
  const char* what;
  int since_schema = 1;  // a backup may be older than this server
  int until_schema = std::numeric_limits<int>::max();
};

constexpr Rule kRules[] = {
    {"SELECT count(*) FROM job WHERE id NOT IN (SELECT job FROM progress)",
     "jobs without their progress"},
    {"SELECT count(*) FROM progress WHERE job NOT IN (SELECT id FROM job)",
     "rows of progress without their job"},
    {R"(SELECT count(*) FROM progress AS p JOIN job AS j ON j.id = p.job
        WHERE p.collection <> j.collection)",
     "rows of progress under a wrong collection", 4},
    {"SELECT count(*) FROM job WHERE collection NOT IN (SELECT id FROM collection)",
     "jobs without their collection"},
    {R"(SELECT count(*) FROM collection AS c
        WHERE jobs <> (SELECT count(*) FROM job WHERE collection = c.id))",
     "collections that count their jobs wrongly"},
    {"SELECT count(*) FROM job WHERE folded <> lower(name)", "jobs under a wrong name"},
    {R"(SELECT count(*) FROM collection
        WHERE folded <> lower(subscription || '/' || resource_group || '/' || name))",
     "collections under a wrong name"},
    {R"(SELECT count(*) FROM progress WHERE due IS NULL AND
        coalesce(scheduled_for, seq, origin, role, retry, started) IS NOT NULL)",
     "jobs that wait for something at no time", 1, 5},
    {R"(SELECT count(*) FROM progress WHERE due IS NULL AND
        coalesce(scheduled_for, seq, origin, role, retry) IS NOT NULL)",
     "jobs that wait for something at no time", 6, 7},
    {R"(SELECT count(*) FROM progress WHERE due IS NULL AND suspended IS NULL AND
        coalesce(scheduled_for, seq, origin, role, retry) IS NOT NULL)",
     "jobs that wait for something at no time", 8},
    {R"(SELECT count(*) FROM started
        WHERE job NOT IN (SELECT job FROM progress WHERE due IS NOT NULL))",
     "jobs that are started and wait for nothing", 6, 7},
    {R"(SELECT count(*) FROM started WHERE job NOT IN
        (SELECT job FROM progress WHERE coalesce(due, suspended) IS NOT NULL))",
     "jobs that are started and wait for nothing", 8},
    {"SELECT count(*) FROM progress WHERE due IS NOT NULL AND suspended IS NOT NULL",
     "jobs that wait and are suspended", 8},
    {R"(SELECT count(*) FROM audit AS a WHERE a.number > coalesce(
        (SELECT last FROM audit_span AS s WHERE s.subscription = a.subscription
         AND s.first <= a.number ORDER BY s.first DESC LIMIT 1), 0))",
     "rows of the audit log that their subscription does not know", 6},
    {R"(SELECT count(*) FROM progress WHERE due IS NOT NULL AND
        (scheduled_for IS NULL OR seq IS NULL OR origin IS NULL OR role IS NULL OR retry IS NULL))",
     "jobs that wait for nothing"},
    {"SELECT count(*) FROM removed WHERE job IN (SELECT id FROM job)",
     "jobs that are there and removed"},
    {R"(SELECT count(*) FROM (SELECT DISTINCT job FROM history)
        WHERE job NOT IN (SELECT id FROM job) AND job NOT IN (SELECT job FROM removed))",
     "histories of jobs that never were"},
};

// Whether it is started does not matter here, and in an older store is said elsewhere.
constexpr char kFromEveryJob[] = R"(
FROM job AS j CROSS JOIN progress AS p ON p.job = j.id
              CROSS JOIN collection AS c ON c.id = j.collection)";
const std::string kEveryJob = kSelectWaitingJob + kFromEveryJob;
// Before there were MACs, and secrets of their own for error actions.
constexpr std::int64_t kSchemaOfMacs = 8;
const std::string kEveryOlderJob =
    select_job("NULL", "p.covered_until", "NULL", "NULL, NULL") + kFromEveryJob;

class Findings {
 public:
  explicit Findings(Connection& db) : db_(db) {}

  bool full() const { return problems_.size() >= kProblemsMax; }
  const std::vector<std::string>& problems() const { return problems_; }

  void add(std::string problem) {
    if (!full()) problems_.push_back(std::move(problem));
  }

  // A database that cannot be read is a finding, not a failure to look.
  void add_failure() {
    if (db_.failed()) add(db_.take_failure().error.message);
  }

 private:
  Connection& db_;
  std::vector<std::string> problems_;
};

void check_pages(Connection& db, Findings& findings) {
  for (Rows rows = db.query("PRAGMA integrity_check(100)"); rows.next();) {
    const std::string line = rows.text();
    if (line != "ok") findings.add(line);
  }
  findings.add_failure();
}

void check_rules(Connection& db, Findings& findings) {
  const auto schema = db.value("PRAGMA user_version");
  for (const Rule& rule : kRules) {
    if (schema < rule.since_schema || schema > rule.until_schema) continue;
    const auto violations = db.value(rule.violations);
    if (violations.value_or(0) != 0) findings.add(fmt::format("{} {}", *violations, rule.what));
    findings.add_failure();
  }
}

bool has_macs(Connection& db) {
  return db.value("PRAGMA user_version") >= kSchemaOfMacs;
}

void check_definitions(Connection& db, const Sealer& sealer, Findings& findings) {
  Rows rows = db.query((has_macs(db) ? kEveryJob : kEveryOlderJob).c_str());
  while (!findings.full() && rows.next()) {
    const ReadJob read = read_job(rows, sealer);
    if (!read.definition) findings.add(read.definition.error().message);
    findings.add_failure();
  }
  findings.add_failure();
}

// The keys of the file, if they are those that its secrets are sealed with.
Result<std::vector<SealingKey>> fitting_keys(const std::filesystem::path& file, Connection& db) {
  TRY_ASSIGN(const auto keys, read_key_file(file));
  const auto used = keys_in_use(db);
  if (used.empty()) return keys;
  if (keys.empty()) return missing_key_file(file, used.front());
  if (const auto fit = check_fit(file, keys, used); !fit) return fit.error();
  return keys;
}

std::string counted(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// What is said of a backup was read in it.
Result<std::string> contents_of(const std::filesystem::path& backup) {
  TRY_ASSIGN(const auto db, Connection::open(backup.native(), OpenMode::read_only, ""));
  const auto jobs = db->value("SELECT count(*) FROM job");
  const auto collections = db->value("SELECT count(*) FROM collection");
  if (db->failed()) return db->take_failure().error;
  return fmt::format("{} in {}", counted(*jobs, "job"), counted(*collections, "job collection"));
}

// What only the keys can tell: whether all was written by Belfry, and whether it opens.
void check_what_is_sealed(Connection& db, const std::vector<SealingKey>& keys, Findings& findings) {
  if (keys.empty()) return;
  Sealer sealer(keys);
  if (has_macs(db)) {
    find_forged(db, sealer, [&findings](std::string found) { findings.add(std::move(found)); });
  }
  check_definitions(db, sealer, findings);
}

Status copy_synced(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return file_error("open", from);
  TRY_ASSIGN(const FileDescriptor out, make_private_file(to));
  std::string piece(kCopyBytes, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto length = static_cast<std::size_t>(in.gcount());
    if (const auto done = write_all(out, std::string_view(piece).substr(0, length), to); !done) {
      return done.error();
    }
  }
  if (in.bad()) return file_error("read", from);
  return sync_file(to);
}

// The backup must be sound before anybody trusts it. Whether its keys were there to tell: where
// there are none it is restored all the same, for the server will look at it again; wrong ones are
// a mistake that is better known now.
Result<bool> check_backup(const std::filesystem::path& copy, const std::filesystem::path& file,
                          const std::filesystem::path& key_file) {
  TRY_ASSIGN(const auto db, Connection::open(copy.native(), OpenMode::existing, ""));
  Findings findings(*db);
  if (const auto well = check_schema(*db); !well) {
    return Error{well.error().code,
                 fmt::format("{} is not a backup that can be used here: {}", file.native(),
                             well.error().message),
                 ""};
  }
  const auto keys = fitting_keys(key_file, *db);
  if (!keys) {
    TRY_ASSIGN(const auto wrong, read_key_file(key_file));
    if (!wrong.empty()) return keys.error();
  }
  findings.add_failure();
  check_pages(*db, findings);
  check_rules(*db, findings);
  if (keys) check_what_is_sealed(*db, *keys, findings);
  if (findings.problems().empty()) return keys.has_value();
  return Error{
      ErrorCode::invalid,
      fmt::format("{} is not a sound backup: {}", file.native(), findings.problems().front()), ""};
}

// A log beside a file belongs to it: who copies one without the other has half a database.
Error has_log(const std::filesystem::path& log) {
  return {ErrorCode::conflict,
          fmt::format("{} is there: it belongs to a database that was not closed; restore a file "
                      "that `belfry backup` made, into a directory without one",
                      log.native()),
          ""};
}

std::filesystem::path log_of(const std::filesystem::path& database) {
  return database.native() + "-wal";
}

Status check_place(const std::filesystem::path& file, const std::filesystem::path& database) {
  TRY_ASSIGN(const bool taken, is_there(database));
  if (taken) {
    return Error{ErrorCode::conflict,
                 fmt::format("{} is there already: restore into another directory, or move it away",
                             database.native()),
                 ""};
  }
  for (const auto& log : {log_of(database), log_of(file)}) {
    TRY_ASSIGN(const bool logged, is_there(log));
    if (logged) return has_log(log);
  }
  return Done{};
}

}  // namespace

Status expect_database_in(const std::filesystem::path& directory) {
  const auto path = database_path(directory);
  TRY_ASSIGN(const bool there, is_there(path));
  if (there) return Done{};
  return Error{ErrorCode::invalid,
               fmt::format("there is no database {}: is {} the directory of a server's store? "
                           "--store (BELFRY_STORE) names another",
                           full_path(path).native(), full_path(directory).native()),
               ""};
}

Result<std::unique_ptr<Connection>> open_database_in(const std::filesystem::path& directory) {
  if (const auto there = expect_database_in(directory); !there) return there.error();
  if (const auto ours = expect_database_files(directory); !ours) return ours.error();
  return Connection::open(database_path(directory).native(), OpenMode::existing, "");
}

std::vector<std::string> check_tables(Connection& db) {
  Findings findings(db);
  check_pages(db, findings);
  check_rules(db, findings);
  return findings.problems();
}

Result<StoreFindings> check_store(const std::filesystem::path& directory,
                                  const std::filesystem::path& key_file) {
  TRY_ASSIGN(const auto db, open_database_in(directory));
  db->keep_log_on_close();
  Findings findings(*db);
  if (const auto well = check_schema(*db); !well) {
    findings.add(well.error().message);
    return StoreFindings{findings.problems()};
  }
  db->run("BEGIN");
  const auto keys = fitting_keys(place_of_key(directory, key_file), *db);
  findings.add_failure();
  if (keys) {
    check_what_is_sealed(*db, *keys, findings);
  } else {
    findings.add(keys.error().message +
                 " (whether tokens, job collections, definitions and secrets are as Belfry wrote "
                 "them was not verified without its keys)");
  }
  check_pages(*db, findings);
  check_rules(*db, findings);
  const std::int64_t older = has_macs(*db) ? rows_without_mac(*db) : 0;
  db->run("ROLLBACK");
  findings.add_failure();
  return StoreFindings{findings.problems(), older};
}

Result<std::string> upkeep_left(const std::filesystem::path& directory) {
  constexpr int kEchoesSince = 8;
  TRY_ASSIGN(const auto db, open_database_in(directory));
  db->keep_log_on_close();
  const bool known = db->value("PRAGMA user_version").value_or(0) >= kEchoesSince;
  const std::int64_t jobs =
      known ? jobs_with_echoes_unseen(*db) : db->value("SELECT count(*) FROM job").value_or(0);
  if (db->failed()) return db->take_failure().error;
  if (jobs == 0) return std::string();
  return fmt::format(
      "Of {} jobs the history may still hold secrets that their targets repeated to an older "
      "version: a running server looks through it and masks them.",
      jobs);
}

Result<std::string> back_up_store(const std::filesystem::path& directory,
                                  const std::filesystem::path& target,
                                  const std::filesystem::path& key_file) {
  TRY_ASSIGN(const bool taken, is_there(target));
  if (taken) {
    return Error{ErrorCode::conflict,
                 fmt::format("{} is there already: choose another file", target.native()), ""};
  }
  TRY_ASSIGN(const auto db, open_database_in(directory));
  db->keep_log_on_close();
  if (const auto well = check_schema(*db); !well) return well.error();
  if (const auto done = copy_database(*db, target); !done) return done.error();
  TRY_ASSIGN(const std::string contents, contents_of(target));
  return fmt::format(
      "Backed up {} to {}: {}. The key that opens its secrets is not in it: keep {} too, "
      "elsewhere.",
      full_path(directory).native(), full_path(target).native(), contents,
      full_path(place_of_key(directory, key_file)).native());
}

Result<std::string> restore_store(const std::filesystem::path& file,
                                  const std::filesystem::path& directory,
                                  const std::filesystem::path& key_file) {
  if (const auto made = make_directory(directory); !made) return made.error();
  TRY_ASSIGN(const auto lock, DirectoryLock::take(directory));
  const auto database = database_path(directory);
  if (const auto free = check_place(file, database); !free) return free.error();
  const std::filesystem::path copy = database.native() + ".unfinished";
  ::unlink(copy.c_str());
  if (const auto done = copy_synced(file, copy); !done) return done.error();
  const std::filesystem::path keys = place_of_key(directory, key_file);
  const auto verified = check_backup(copy, file, keys);
  if (!verified) {
    ::unlink(copy.c_str());
    return verified.error();
  }
  TRY_ASSIGN(const std::string contents, contents_of(copy));
  if (const auto done = publish(copy, database); !done) return done.error();
  std::string said = fmt::format("Restored {} to {}: {}.", full_path(file).native(),
                                 full_path(directory).native(), contents);
  if (!*verified) {
    said += fmt::format(
        " Put the key that sealed its secrets at {0} before the server starts. Without it nobody "
        "could verify that the backup is as Belfry wrote it: belfry check --store {1} does.",
        full_path(keys).native(), full_path(directory).native());
  }
  return said;
}

}  // namespace belfry
