// SPDX-License-Identifier: MIT
//
// `belfry bench …`: reads what to measure and how much of it.

#pragma once

#include <string>

#include "app/cli_command.h"
#include "bench/bench.h"

namespace belfry {

class BenchCommand : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  BenchOptions options_;
  std::string store_parent_ = options_.store_parent.native();
  bool quick_ = false;
  const CLI::App* app_ = nullptr;
};

}  // namespace belfry
