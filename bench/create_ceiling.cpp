// SPDX-License-Identifier: MIT
//
// The bare ceiling of durable creates: raw epoll, no JSON, no rules; all requests that have
// arrived become rows of one SQLite transaction (WAL, synchronous=FULL) and are answered then.
//
// create_ceiling DIRECTORY CONNECTIONS REQUESTS: prints how many a second, like `belfry bench`.

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/load.h"
#include "bench/server_process.h"
#include "bench/tiny_server.h"

namespace {

class Rows {
 public:
  explicit Rows(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) std::exit(1);
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE job(id INTEGER PRIMARY KEY, due INTEGER, definition TEXT);"
        "CREATE INDEX place ON job(due);");
    sqlite3_prepare_v2(db_, "INSERT INTO job(due, definition) VALUES(?1, ?2)", -1, &insert_,
                       nullptr);
  }
  ~Rows() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }

  void add(const std::vector<std::string_view>& requests) {
    run("BEGIN");
    for (const std::string_view request : requests) {
      sqlite3_bind_int64(insert_, 1, ++count_);
      sqlite3_bind_text(insert_, 2, request.data(), static_cast<int>(request.size()),
                        SQLITE_STATIC);
      sqlite3_step(insert_);
      sqlite3_reset(insert_);
    }
    run("COMMIT");
  }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
    fmt::print(stderr, "create_ceiling: {}\n", sqlite3_errmsg(db_));
    std::exit(1);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_int64 count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const belfry::TemporaryDirectory directory(argv[1]);
  Rows rows((directory.path() / "db").native());
  belfry::TinyServer server([&](const auto& requests) { rows.add(requests); });
  std::thread thread([&] { server.run(); });
  const std::string body(190, 'x');  // as long as a small job
  const belfry::LoadResult result = belfry::run_load(
      {.port = server.port(),
       .connections = std::atoi(argv[2]),
       .requests = std::atoll(argv[3]),
       .duration = {}},
      [&](std::int64_t n) { return belfry::request_text("PUT", fmt::format("/job/{}", n), body); });
  server.stop();
  thread.join();
  fmt::print("{:.0f}\n", result.per_second());
}
