// SPDX-License-Identifier: MIT
//
// `belfry check`, `backup`, `restore` and `key …`: what is done to a store's directory, with or
// without a server that runs on it.

#pragma once

#include <map>
#include <string>

#include "app/cli_command.h"
#include "app/flags.h"
#include "base/result.h"

namespace belfry {

class StoreCommands : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  using KeyUpkeep = Result<std::string> (*)(const KeyPlace&);

  CLI::App* add_command(CLI::App& app, const char* name, const char* help);
  void add_keys(CLI::App& app);

  CLI::App* check_ = nullptr;
  CLI::App* backup_ = nullptr;
  CLI::App* restore_ = nullptr;
  std::map<CLI::App*, KeyUpkeep> keys_;
  StoreFlags store_;
  std::string file_;
};

}  // namespace belfry
