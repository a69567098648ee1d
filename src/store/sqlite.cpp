// SPDX-License-Identifier: MIT

#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <mutex>

#include "base/assert.h"

namespace belfry {

namespace {

int flags_of(OpenMode mode) {
  // A connection is one thread's at a time, so SQLite need not lock it as well.
  const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::existing:
      return common | SQLITE_OPEN_READWRITE;
    case OpenMode::create:
      return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case OpenMode::read_only:
      return common | SQLITE_OPEN_READONLY;
  }
  return common;
}

SqliteFailure failure_of(int code, std::string_view said) {
  const int primary = code & 0xff;
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
    return {code, {ErrorCode::internal, damaged(said), ""}};
  }
  return {code,
          {ErrorCode::unavailable, fmt::format("the database failed: {} ({})", said, code), ""}};
}

int remember_log_pages(void* log_pages, sqlite3*, const char*, int pages) {
  *static_cast<int*>(log_pages) = pages;
  return SQLITE_OK;
}

}  // namespace

void set_up_sqlite() {
  static std::once_flag once;
  // Without its statistics SQLite takes no lock of the whole process for every piece of memory.
  std::call_once(once, [] { ASSERT(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK); });
}

std::string damaged(std::string_view how) {
  return fmt::format(
      "the database is damaged: {}. Stop the server and put a backup in its place (belfry restore)",
      how);
}

bool SqliteFailure::sync_failed() const {
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

Rows::~Rows() {
  // What reset() answers has been seen already, by next().
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

bool Rows::next() {
  if (statement_ == nullptr || connection_->failed()) return false;
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_->note(code);
  return false;
}

std::int64_t Rows::integer() {
  return sqlite3_column_int64(statement_, column_++);
}

std::optional<std::int64_t> Rows::maybe_integer() {
  const int column = column_++;
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::string_view Rows::view() {
  const int column = column_++;
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::optional<std::string_view> Rows::maybe_view() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return view();
}

std::optional<std::string> Rows::maybe_text() {
  const auto found = maybe_view();
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::optional<Instant> Rows::maybe_instant() {
  const auto ticks = maybe_integer();
  if (!ticks) return std::nullopt;
  return Instant{Ticks{*ticks}};
}

std::int64_t Rows::integer_up_to(std::int64_t last) {
  const std::int64_t value = integer();
  if (0 <= value && value <= last) return value;
  fail({ErrorCode::internal,
        damaged(fmt::format("a column holds {}, at most {} makes sense", value, last)), ""});
  return 0;
}

void Rows::fail(Error error) {
  connection_->fail(std::move(error));
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, OpenMode mode,
                                                     const std::string& vfs) {
  set_up_sqlite();
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database, flags_of(mode), vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) {
    auto failure = failure_of(code, database ? sqlite3_errmsg(database) : sqlite3_errstr(code));
    sqlite3_close_v2(database);
    failure.error.message = fmt::format("cannot open {}: {}", path, failure.error.message);
    return failure.error;
  }
  return std::unique_ptr<Connection>(new Connection(database));
}

Connection::Connection(sqlite3* database) : database_(database) {
  sqlite3_busy_timeout(database_, kBusyTimeoutMs);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  // In place of SQLite's own checkpoints, whose failures nobody hears of.
  sqlite3_wal_hook(database_, remember_log_pages, &log_pages_);
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  ASSERT(sqlite3_close(database_) == SQLITE_OK);
}

sqlite3_stmt* Connection::prepared(const char* sql) {
  if (failed()) return nullptr;
  const auto [place, added] = statements_.try_emplace(sql, nullptr);
  if (added || place->second == nullptr) {
    note(
        sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &place->second, nullptr));
  }
  ASSERT(place->second == nullptr || !sqlite3_stmt_busy(place->second));
  return place->second;
}

std::int64_t Connection::finish(sqlite3_stmt* statement) {
  const int code = failed() ? SQLITE_OK : sqlite3_step(statement);
  if (code != SQLITE_DONE && code != SQLITE_ROW) note(code);
  sqlite3_reset(statement);
  return failed() ? 0 : sqlite3_changes64(database_);
}

void Connection::execute(const std::string& statements) {
  if (!failed()) note(sqlite3_exec(database_, statements.c_str(), nullptr, nullptr, nullptr));
}

int Connection::checkpoint_as(int mode) {
  if (failed()) return 0;
  int copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_, nullptr, mode, nullptr, &copied);
  // Busy: a reader still needs the log, or another checkpoint is at work. The next one will do.
  if ((code & 0xff) != SQLITE_BUSY) note(code);
  return std::max(copied, 0);
}

int Connection::checkpoint() {
  return checkpoint_as(SQLITE_CHECKPOINT_PASSIVE);
}

void Connection::checkpoint_and_truncate() {
  checkpoint_as(SQLITE_CHECKPOINT_TRUNCATE);
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(database_) == 0;
}

void Connection::keep_log_on_close() {
  sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::note(int code) {
  if (code == SQLITE_OK || failed()) return;
  failure_ = failure_of(code, sqlite3_errmsg(database_));
}

void Connection::fail(Error error) {
  if (!failed()) failure_ = SqliteFailure{SQLITE_ERROR, std::move(error)};
}

SqliteFailure Connection::take_failure() {
  ASSERT(failed());
  SqliteFailure out = *std::move(failure_);
  failure_.reset();
  return out;
}

Status Connection::take_status() {
  if (failed()) return take_failure().error;
  return Done{};
}

void Connection::bind(sqlite3_stmt* statement, int index, Lifetime lifetime,
                      std::string_view text) {
  note(sqlite3_bind_text64(statement, index, text.data() != nullptr ? text.data() : "", text.size(),
                           lifetime == Lifetime::copied ? SQLITE_TRANSIENT : SQLITE_STATIC,
                           SQLITE_UTF8));
}

void Connection::bind(sqlite3_stmt* statement, int index, Lifetime lifetime, Blob blob) {
  note(sqlite3_bind_blob64(statement, index, blob.bytes.data(), blob.bytes.size(),
                           lifetime == Lifetime::copied ? SQLITE_TRANSIENT : SQLITE_STATIC));
}

void Connection::bind(sqlite3_stmt* statement, int index, Lifetime, std::int64_t number) {
  note(sqlite3_bind_int64(statement, index, number));
}

void Connection::bind(sqlite3_stmt* statement, int index, Lifetime, std::nullopt_t) {
  note(sqlite3_bind_null(statement, index));
}

}  // namespace belfry
