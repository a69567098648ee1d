// SPDX-License-Identifier: MIT
//
// Flags that several commands have, and what values flags may have. A refusal names the flag, says
// what is allowed and what was given.

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/remote.h"
#include "store/key_upkeep.h"

namespace belfry {

// Where a running server is, and who asks it.
struct RemoteFlags {
  RemoteFlags();
  void add_to(CLI::App& command);
  Remote remote() const;

  std::string server;
  std::string token;
  std::string ca_file;
};

// A store's directory, for commands that work on it without asking a server.
struct StoreFlags {
  StoreFlags();
  void add_to(CLI::App& command);
  KeyPlace place() const { return {directory, key_file}; }

  std::string directory;
  std::string key_file;
};

CLI::Validator one_of(std::vector<std::string> values);
CLI::Validator integer_from(std::int64_t min, std::int64_t max);

}  // namespace belfry
