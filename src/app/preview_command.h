// SPDX-License-Identifier: MIT
//
// `belfry preview`: when a job would run, without a server.

#pragma once

#include <cstddef>
#include <string>

#include "app/cli_command.h"

namespace belfry {

class PreviewCommand : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  CLI::App* app_ = nullptr;
  std::string file_ = "-";
  std::string now_;
  std::size_t count_ = 10;
  bool json_ = false;
};

}  // namespace belfry
