// SPDX-License-Identifier: MIT
//
// What an operator does to the directory of a SqliteStore from outside: look whether it is
// sound, take a backup, put one back. Checking and backing up may be done while a server runs,
// which they do not disturb; restoring may not.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite.h"

namespace belfry {

inline constexpr std::size_t kProblemsMax = 100;

// A directory that has no database is an error, here and for all that look at one from outside.
Status expect_database_in(const std::filesystem::path& directory);
Result<std::unique_ptr<Connection>> open_database_in(const std::filesystem::path& directory);

// What is wrong with the database, the first kProblemsMax; empty when nothing is. And how many rows
// of an older version have no MAC yet: until there are none, such a row is believed.
struct StoreFindings {
  std::vector<std::string> problems;
  std::int64_t without_mac = 0;
};

// Here and below the keys are in `key_file`, or in the directory where that is empty.
Result<StoreFindings> check_store(const std::filesystem::path& directory,
                                  const std::filesystem::path& key_file = {});

// What a server that runs still has to do to a sound store, for the operator; empty when it is
// done.
Result<std::string> upkeep_left(const std::filesystem::path& directory);

// check_store() of an open one, but for what is sealed in it.
std::vector<std::string> check_tables(Connection& db);

// Writes the database as it is at this moment to one new file. The answer is a sentence for
// the operator, who must know that the key is not in it.
Result<std::string> back_up_store(const std::filesystem::path& directory,
                                  const std::filesystem::path& target,
                                  const std::filesystem::path& key_file = {});

// Makes the directory's database from a backup that is sound; one that is there is not touched.
Result<std::string> restore_store(const std::filesystem::path& file,
                                  const std::filesystem::path& directory,
                                  const std::filesystem::path& key_file = {});

}  // namespace belfry
