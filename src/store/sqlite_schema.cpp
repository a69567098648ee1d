// SPDX-License-Identifier: MIT

#include "store/sqlite_schema.h"

#include <fmt/format.h>

#include <iterator>

namespace belfry {

namespace {

constexpr std::int64_t kApplicationId = 0x42656c66;  // "Belf", in the header of the file

constexpr const char* kMigrations[] = {
    R"(
CREATE TABLE collection(
  id INTEGER PRIMARY KEY,
  folded TEXT NOT NULL UNIQUE,
  subscription TEXT NOT NULL,
  resource_group TEXT NOT NULL,
  name TEXT NOT NULL,
  location TEXT NOT NULL,
  tags TEXT NOT NULL,
  sku INTEGER NOT NULL,
  state INTEGER NOT NULL,
  max_job_count INTEGER NOT NULL,
  max_frequency INTEGER NOT NULL,
  max_interval INTEGER NOT NULL,
  gen INTEGER NOT NULL,
  jobs INTEGER NOT NULL
) STRICT;

CREATE TABLE job(
  id INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  folded TEXT NOT NULL,
  name TEXT NOT NULL,
  definition TEXT NOT NULL,
  secrets BLOB,
  UNIQUE(collection, folded)
) STRICT;

CREATE TABLE progress(
  job INTEGER PRIMARY KEY,
  gen INTEGER NOT NULL,
  state INTEGER NOT NULL,
  due INTEGER,
  scheduled_for INTEGER,
  seq INTEGER,
  origin INTEGER,
  role INTEGER,
  retry INTEGER,
  started INTEGER,
  last_seq INTEGER NOT NULL,
  ran INTEGER NOT NULL,
  last_execution INTEGER,
  executions INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  faults INTEGER NOT NULL,
  covered_until INTEGER NOT NULL,
  owed_until INTEGER NOT NULL,
  retry_interval INTEGER NOT NULL,
  ended INTEGER,
  defined_at INTEGER NOT NULL
) STRICT;
CREATE INDEX progress_due ON progress(due) WHERE due IS NOT NULL AND started IS NULL;
CREATE INDEX progress_started ON progress(started) WHERE started IS NOT NULL;
CREATE INDEX progress_ended ON progress(ended) WHERE ended IS NOT NULL;

CREATE TABLE history(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  role INTEGER NOT NULL,
  retry INTEGER NOT NULL,
  status INTEGER NOT NULL,
  scheduled_for INTEGER NOT NULL,
  repeat INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  gap_last INTEGER,
  gap_count INTEGER,
  message TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX history_place ON history(job, seq, role, retry);
-- Few rows did not complete, and those are the ones that are looked for.
CREATE INDEX history_unsuccessful ON history(job, status, seq, role, retry) WHERE status <> 0;

CREATE TABLE removed(job INTEGER PRIMARY KEY) STRICT;
CREATE TABLE sealing(key_id BLOB PRIMARY KEY) STRICT;
)",
    R"(
CREATE TABLE token(
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  assignments TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE audit(
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  principal TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  address TEXT NOT NULL,
  operation TEXT NOT NULL,
  subscription TEXT NOT NULL,
  scope TEXT NOT NULL,
  resource TEXT NOT NULL,
  result INTEGER NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE INDEX audit_subscription ON audit(subscription, number);
-- The last row once more: rows that are missing at the end are seen by it.
CREATE TABLE audit_head(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head(one, number, hash) VALUES (1, 0, '');
)",
    R"(
-- To count them. An advance of an enabled job leaves it alone.
CREATE INDEX progress_at_rest ON progress(state) WHERE state <> 0;
)",
    R"(
-- Whoever looks for what others than a crowd have due passes over the crowd's: by the index alone.
ALTER TABLE progress ADD COLUMN collection INTEGER NOT NULL DEFAULT 0;
UPDATE progress SET collection = (SELECT collection FROM job WHERE id = progress.job);
DROP INDEX progress_due;
CREATE INDEX progress_due ON progress(due, job, collection)
WHERE due IS NOT NULL AND started IS NULL;
)",
    R"(
-- A job that comes to its end is counted by state, and found by when: one entry serves both.
DROP INDEX progress_ended;
DROP INDEX progress_at_rest;
CREATE INDEX progress_at_rest ON progress(state, ended) WHERE state <> 0;
)",
    R"(
-- What is on its way, beside the jobs: to begin one is a small row more, and its place in the index
-- on due time is left alone until it is known what comes next.
CREATE TABLE started(
  job INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  covered_until INTEGER NOT NULL
) STRICT;
INSERT INTO started(job, at, covered_until)
SELECT job, started, covered_until FROM progress WHERE started IS NOT NULL;
DROP INDEX progress_started;
DROP INDEX progress_due;
ALTER TABLE progress DROP COLUMN started;
CREATE INDEX progress_due ON progress(due, job, collection) WHERE due IS NOT NULL;

-- Where the rows of a subscription are: one for all that a transaction told of it, among which may
-- be others', in place of one for each.
CREATE TABLE audit_span(
  subscription TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY(subscription, first)
) STRICT, WITHOUT ROWID;
INSERT INTO audit_span(subscription, first, last) SELECT subscription, number, number FROM audit;
DROP INDEX audit_subscription;
)",
    R"(
-- Occurrences whose start was put off, for want of room at their target, since when they were
-- planned: there are mostly none, and the one that waits longest has to be found.
CREATE INDEX progress_put_off ON progress(scheduled_for)
WHERE due > scheduled_for AND role = 0 AND retry = 0;
)",
    R"(
-- Jobs that may have a client certificate whose file was never opened.
CREATE TABLE unopened(job INTEGER PRIMARY KEY) STRICT;
INSERT INTO unopened(job) SELECT id FROM job WHERE instr(definition, '"ClientCertificate"') > 0;

-- What is sealed of the main action, and of the error action; before, both were in the first. Rows
-- that somebody else wrote are known by their MAC; older ones get theirs while a server runs.
ALTER TABLE job ADD COLUMN error_secrets BLOB;
ALTER TABLE job ADD COLUMN mac BLOB;
ALTER TABLE collection ADD COLUMN mac BLOB;
ALTER TABLE token ADD COLUMN mac BLOB;
-- Whether all have theirs, and the MAC of that and of the ids in `sealing`.
CREATE TABLE seal(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  complete INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT;

-- When what is suspended would be due, in place of `due`: nothing that may not begin stands in the
-- indexes on that.
ALTER TABLE progress ADD COLUMN suspended INTEGER;

-- Jobs whose last success is part of the metrics: those that ask for it.
CREATE TABLE counted(job INTEGER PRIMARY KEY, last_success INTEGER) STRICT;

-- Up to which job it was looked whether the history holds secrets that a target repeated: older
-- versions wrote down what came. No row: there is nothing left to look at.
CREATE TABLE echoes_unseen(after INTEGER NOT NULL) STRICT;
INSERT INTO echoes_unseen(after) SELECT id - 1 FROM job ORDER BY id LIMIT 1;
)",
};

}  // namespace

int schema_version() {
  return static_cast<int>(std::size(kMigrations));
}

Status check_schema(Connection& db) {
  const auto application = db.value("PRAGMA application_id");
  const auto version = db.value("PRAGMA user_version");
  const auto tables = db.value("SELECT count(*) FROM sqlite_schema");
  if (db.failed()) return db.take_failure().error;
  if (tables == 0) return Done{};
  if (application != kApplicationId) {
    return Error{ErrorCode::invalid, "the file is not a database of Belfry", ""};
  }
  if (*version > schema_version()) {
    return Error{ErrorCode::invalid,
                 fmt::format("the database was written by a newer Belfry (schema {}; this one "
                             "knows up to {}): use that one, or restore a backup",
                             *version, schema_version()),
                 ""};
  }
  return Done{};
}

Status migrate(Connection& db, const std::function<void(Connection&)>& complete) {
  const auto version = db.value("PRAGMA user_version");
  for (auto next = version.value_or(0); next < schema_version() && !db.failed(); ++next) {
    db.execute(
        fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {};", kMigrations[next], next + 1));
    if (next + 1 == schema_version()) complete(db);
    db.execute("COMMIT");
  }
  return db.take_status();
}

Status configure_writer(Connection& db) {
  db.execute(R"(
PRAGMA page_size = 4096;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = OFF;
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = FAST;
PRAGMA cache_size = -8192;
PRAGMA journal_size_limit = 134217728;
)");
  {
    Rows mode = db.query("PRAGMA journal_mode");
    if (mode.next() && mode.view() != "wal") {
      mode.fail({ErrorCode::unavailable, "the file system cannot hold a write-ahead log", ""});
    }
  }
  if (db.value("PRAGMA application_id") == 0) {
    db.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  }
  return db.take_status();
}

Status configure_reader(Connection& db) {
  db.execute(R"(
PRAGMA query_only = ON;
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -4096;
)");
  return db.take_status();
}

}  // namespace belfry
