// SPDX-License-Identifier: MIT
//
// Connection is an open SQLite database, Rows what a query yields. Values enter statements as
// bound parameters alone; statements are compiled once and kept by the address of their text,
// which must therefore be a constant.
//
// The first failure of a connection stays: whatever is asked of it afterwards does nothing,
// until take_failure() hands it out. So a sequence of statements reads without a check after
// each; whoever began the sequence looks once, at its end.
//
// A connection is used by one thread at a time.

#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "base/instant.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace belfry {

inline constexpr int kBusyTimeoutMs = 5000;

// What is set for the whole process. It must come before anything else is asked of SQLite, which
// takes no such setting once it was used.
void set_up_sqlite();

struct Blob {
  std::string_view bytes;
};
inline std::optional<Blob> as_blob(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return Blob{*bytes};
}

// Why a statement failed: SQLite's extended code, and what to tell people.
struct SqliteFailure {
  int code = 0;
  Error error;

  // The disk did not confirm: what was written before may be lost, whatever it says later.
  bool sync_failed() const;
};

// What to tell people of it.
std::string damaged(std::string_view how);

class Connection;

// The rows of a query, which ends with its Rows.
class Rows {
 public:
  Rows(Connection& connection, sqlite3_stmt* statement)
      : connection_(&connection), statement_(statement) {}
  ~Rows();
  Rows(Rows&& other) noexcept
      : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}
  Rows& operator=(Rows&&) = delete;

  // False: there are no more, or the connection has failed.
  bool next();

  // The columns of the row from left to right, one a call.
  std::int64_t integer();
  std::optional<std::int64_t> maybe_integer();
  std::string text() { return std::string(view()); }
  std::string_view view();  // until the next row
  std::optional<std::string_view> maybe_view();
  std::optional<std::string> maybe_text();

  Instant instant() { return Instant{Ticks{integer()}}; }
  std::optional<Instant> maybe_instant();

  // An enumeration whose values go from 0 to `last`; anything else is damage.
  template <typename Enum>
  Enum choice(Enum last) {
    return static_cast<Enum>(integer_up_to(static_cast<std::int64_t>(last)));
  }

  // What was read makes no sense: the connection fails with that.
  void fail(Error error);

 private:
  std::int64_t integer_up_to(std::int64_t last);

  Connection* connection_;
  sqlite3_stmt* statement_;
  int column_ = 0;
};

enum class OpenMode { existing, create, read_only };

class Connection {
 public:
  // `vfs` names SQLite's way to the disk; empty is the operating system's.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, OpenMode mode,
                                                  const std::string& vfs);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Does a statement that yields no rows. How many rows it changed; none after a failure.
  template <typename... Values>
  std::int64_t run(const char* sql, const Values&... values) {
    sqlite3_stmt* const statement = prepared(sql);
    if (statement == nullptr) return 0;
    bind_all(statement, Lifetime::outlives_call, values...);
    return finish(statement);
  }

  template <typename... Values>
  Rows query(const char* sql, const Values&... values) {
    sqlite3_stmt* const statement = prepared(sql);
    if (statement != nullptr) bind_all(statement, Lifetime::copied, values...);
    return Rows(*this, statement);
  }

  // The first column of the first row; nothing where there is no row.
  template <typename... Values>
  std::optional<std::int64_t> value(const char* sql, const Values&... values) {
    Rows rows = query(sql, values...);
    if (!rows.next()) return std::nullopt;
    return rows.integer();
  }

  // Statements without parameters and rows, done once: the schema and the settings.
  void execute(const std::string& statements);

  // Copies the log's pages into the database, as far as readers allow, without waiting. How many of
  // the log's pages are copied now.
  int checkpoint();
  // All of them, and empties the log; for when nobody else is connected.
  void checkpoint_and_truncate();
  // How many pages the log held after the last commit of this connection.
  int log_pages() const { return log_pages_; }

  // Between BEGIN and its end.
  bool in_transaction() const;

  bool failed() const { return failure_.has_value(); }
  void fail(Error error);
  SqliteFailure take_failure();
  Status take_status();  // well, or the failure's error

  // Closing leaves the log as it is, to be read again by the next one that opens.
  void keep_log_on_close();

 private:
  friend class Rows;
  enum class Lifetime { outlives_call, copied };

  explicit Connection(sqlite3* database);
  sqlite3_stmt* prepared(const char* sql);
  std::int64_t finish(sqlite3_stmt* statement);
  void note(int code);
  int checkpoint_as(int mode);

  template <typename... Values>
  void bind_all([[maybe_unused]] sqlite3_stmt* statement, [[maybe_unused]] Lifetime lifetime,
                const Values&... values) {
    [[maybe_unused]] int index = 0;
    (bind(statement, ++index, lifetime, values), ...);
  }

  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, std::string_view text);
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, Blob blob);
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, std::int64_t number);
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, std::nullopt_t);
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, Ticks ticks) {
    bind(statement, index, lifetime, std::int64_t{ticks.count()});
  }
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime, Instant instant) {
    bind(statement, index, lifetime, instant.time_since_epoch());
  }
  template <typename Value>
  requires(std::integral<Value> || std::is_enum_v<Value>) void bind(sqlite3_stmt* statement,
                                                                    int index, Lifetime lifetime,
                                                                    Value value) {
    bind(statement, index, lifetime, static_cast<std::int64_t>(value));
  }
  template <typename Value>
  void bind(sqlite3_stmt* statement, int index, Lifetime lifetime,
            const std::optional<Value>& value) {
    if (value) return bind(statement, index, lifetime, *value);
    bind(statement, index, lifetime, std::nullopt);
  }

  sqlite3* database_;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  std::optional<SqliteFailure> failure_;
  int log_pages_ = 0;
};

}  // namespace belfry
