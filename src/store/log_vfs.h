// SPDX-License-Identifier: MIT
//
// LogVfs is SQLite's way to the disk, but for how the write-ahead log is written. SQLite writes a
// commit page by page, and before each page a head of 24 bytes: two calls of the operating system
// for every page. Here what is written to the log is gathered, and written in one piece when it is
// brought to the disk (docs/decisions/023-the-log-in-one-piece.md).
//
// Holds: nobody is told of a commit, nor sees it, before the log was brought to the disk, for the
// connection that writes has synchronous=FULL; so nobody misses what is still gathered.
//
// It lives longer than the connections that use it.

#pragma once

#include <sqlite3.h>

#include <string>

namespace belfry {

class LogVfs {
 public:
  // Over the way to the disk of that name; empty is the operating system's.
  explicit LogVfs(const std::string& base);
  ~LogVfs();
  LogVfs(const LogVfs&) = delete;
  LogVfs& operator=(const LogVfs&) = delete;

  const std::string& name() const { return name_; }

 private:
  // SQLite knows it by this address; what follows is ours.
  struct Registration {
    sqlite3_vfs vfs;
    sqlite3_vfs* base;
  };

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                  int* out_flags);

  const std::string name_;
  Registration registration_;
};

}  // namespace belfry
