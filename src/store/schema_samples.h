// SPDX-License-Identifier: MIT
//
// What servers wrote before the schema was what it is now, for the tests of upgrades: a collection
// with an hourly job that has a secret and with one that ran once, their histories, and from the
// second schema on a token and the audit log. Written down when it was current and never changed.

#pragma once

namespace belfry {

// Statements that make of a database of the schema before (of an empty file, the first) one of
// this schema, with what was in it.
inline constexpr const char* kSchemaSamples[] = {
    R"sql(
PRAGMA application_id = 0x42656c66;

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

INSERT INTO collection VALUES(1, 'sub-1/group-1/backups', 'Sub-1', 'Group-1', 'backups',
  'West Europe', '["team","ops"]', 0, 0, 50, 0, 1, 1, 2);
INSERT INTO job VALUES(7941730074627220179, 1, 'hourly', 'hourly',
  '{"startTime":"2030-01-01T01:00:00Z","action":{"request":{"uri":"http://127.0.0.1:17080/healthz",'
  || '"method":"GET","authentication":{"username":"anna","type":"Basic"}},"type":"Http"},'
  || '"recurrence":{"frequency":"hour","interval":1}}',
  CAST(X'011637C0D9FB0583F99FED7D07BCCCD913BA1C288C08A1DEB984BBDA9516AABCEC371A58D00A'
    || X'710281C6C50897F32CC0722288C9C03FCCAFA4AAB27594B6E38D6E52075B02E24CAE1D37' AS BLOB));
INSERT INTO job VALUES(7941730074627220180, 1, 'once', 'once',
  '{"action":{"request":{"uri":"http://127.0.0.1:17080/healthz","method":"GET"},"type":"Http"}}',
  NULL);
INSERT INTO progress VALUES(7941730074627220179, 1, 0, 18934632000000000, 18934632000000000, 2, 0,
  0, 0, NULL, 2, 1, 18934596000000000, 1, 0, 0, 18934596000000000, 0, 300000000, NULL,
  18934560000000000);
INSERT INTO progress VALUES(7941730074627220180, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1,
  1, 18934560000000000, 1, 0, 0, 18934560000000000, 0, 300000000, 18934560000000000,
  18934560000000000);
INSERT INTO history VALUES(1, 7941730074627220180, 1, 0, 0, 0, 18934560000000000, 1,
  18934560000000000, 18934560000000000, NULL, NULL, 'Http Action - once');
INSERT INTO history VALUES(2, 7941730074627220179, 1, 0, 0, 0, 18934596000000000, 1,
  18934596000000000, 18934596000000000, NULL, NULL, 'Http Action - hourly');
INSERT INTO sealing VALUES(X'1637C0D9FB0583F9');
)sql",
    R"sql(
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

INSERT INTO audit VALUES(1, 18934560000000000, 0, 'local mode', '', '127.0.0.1',
  'Microsoft.Scheduler/jobCollections/write', 'sub-1', 'sub-1/group-1/backups',
  '/subscriptions/Sub-1/resourceGroups/Group-1/providers/Microsoft.Scheduler/jobCollections/'
  || 'backups', 0, '', '9abfde44236e209e2e74f80eff5373b502d8607f09a92012e996cd9530c4fd56',
  'abdba04f6eac94f02f3c12942e94e6a9d21120c3275571c5c6a25e97ba9ae38c');
INSERT INTO audit_head VALUES(1, 1,
  'abdba04f6eac94f02f3c12942e94e6a9d21120c3275571c5c6a25e97ba9ae38c');
INSERT INTO token VALUES('d2c214a268b85721', 'ci',
  'dcca11fdc344b71c74c2f8d7d880ff31144d195e320162f26ea1c2cfd7c3c91f',
  '[{"role":"Owner","scope":"/"}]', 18934614000000000, NULL, NULL);
)sql",
    R"sql(
-- To count them. An advance of an enabled job leaves it alone.
CREATE INDEX progress_at_rest ON progress(state) WHERE state <> 0;
)sql",
    R"sql(
-- Whoever looks for what others than a crowd have due passes over the crowd's: by the index alone.
ALTER TABLE progress ADD COLUMN collection INTEGER NOT NULL DEFAULT 0;
UPDATE progress SET collection = (SELECT collection FROM job WHERE id = progress.job);
DROP INDEX progress_due;
CREATE INDEX progress_due ON progress(due, job, collection)
WHERE due IS NOT NULL AND started IS NULL;
)sql",
    R"sql(
-- A job that comes to its end is counted by state, and found by when: one entry serves both.
DROP INDEX progress_ended;
DROP INDEX progress_at_rest;
CREATE INDEX progress_at_rest ON progress(state, ended) WHERE state <> 0;
)sql",
    R"sql(
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
)sql",
    R"sql(
-- Occurrences whose start was put off, for want of room at their target, since when they were
-- planned: there are mostly none, and the one that waits longest has to be found.
CREATE INDEX progress_put_off ON progress(scheduled_for)
WHERE due > scheduled_for AND role = 0 AND retry = 0;
)sql",
};

// The key file of these databases, and the password that it opens.
inline constexpr const char* kSchemaSampleKey =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
inline constexpr const char* kSchemaSamplePassword = "canary-51d0c2aa";

}  // namespace belfry
