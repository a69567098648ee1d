// SPDX-License-Identifier: MIT
//
// Opens the database of a store's directory: makes it, or brings one of an older version up to
// date, and refuses what is not Belfry's, what somebody else has changed, and what the keys do not
// fit.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// The log is copied into the database when it has grown by so many pages of 4 KiB: few, for what is
// copied is brought to the disk in one go, and commits that come meanwhile wait behind it. It is
// begun anew, if need be by force, when it has so many times as many: soon, for to write over what
// is there is cheaper than to make a file longer (docs/decisions/024-a-short-log.md).
inline constexpr int kCheckpointPages = 1024;
inline constexpr int kLogTooLong = 2;

enum class Checkpoints { in_background, in_commits };

struct SqliteOptions {
  std::filesystem::path directory;
  std::filesystem::path key_file = {};  // empty: secret.key in the directory
  std::string vfs = {};                 // SQLite's way to the disk; tests put one there that fails
  int checkpoint_pages = kCheckpointPages;
  Checkpoints checkpoints = Checkpoints::in_background;  // in_commits: the same at every run

  // Called once, from any thread and perhaps within a call of the store, when nothing but
  // opening it again will help.
  std::function<void()> on_broken = {};
};

std::filesystem::path database_path(const std::filesystem::path& directory);
std::filesystem::path key_path(const std::filesystem::path& directory);

// An older database that is larger is not copied aside by itself before it is brought up to date:
// a start must not take minutes.
inline constexpr std::uint64_t kCopiedAsideBytesMax = std::uint64_t{2} << 30;

// Where there is none yet, for its owner alone; but for a way to the disk that has no files.
Status make_database_file(const SqliteOptions& options);

struct OpenedWriter {
  std::unique_ptr<Connection> writer;
  Sealer sealer;
};
Result<OpenedWriter> open_writer(const SqliteOptions& options);

// After the first: another that may write, and those that only read.
Result<std::unique_ptr<Connection>> open_second_writer(const SqliteOptions& options);
Result<std::unique_ptr<Connection>> open_reader(const SqliteOptions& options);

// That none of the database's files is a symbolic link.
Status expect_database_files(const std::filesystem::path& directory);

std::filesystem::path key_file_of(const SqliteOptions& options);

}  // namespace belfry
