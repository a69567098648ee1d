// SPDX-License-Identifier: MIT
//
// A command of the command line, or several that belong together. main() asks each whether it was
// the one.

#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace belfry {

class CliCommand {
 public:
  virtual ~CliCommand() = default;

  virtual void add_to(CLI::App& app) = 0;

  // The exit code; none when it was another command.
  virtual std::optional<int> run() const = 0;
};

}  // namespace belfry
