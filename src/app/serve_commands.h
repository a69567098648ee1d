// SPDX-License-Identifier: MIT
//
// `belfry serve`, `belfry config`, which know the settings, and `belfry ready`. Each setting is a
// flag of the first two.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/cli_command.h"
#include "app/flags.h"
#include "app/settings.h"

namespace belfry {

class ServeCommands : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  void add_settings(CLI::App& command);
  Result<std::vector<Setting>> resolve() const;
  int run_serve() const;
  int run_config() const;
  int run_ready() const;

  CLI::App* serve_ = nullptr;
  CLI::App* config_ = nullptr;
  CLI::App* ready_ = nullptr;
  std::map<std::string, std::string> flags_;
  std::string config_file_;
  RemoteFlags remote_flags_;
};

}  // namespace belfry
