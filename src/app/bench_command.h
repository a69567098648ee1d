// SPDX-License-Identifier: MIT
//
// `belfry bench …`: reads what to measure and how much of it.

#pragma once

#include <optional>
#include <string>

#include "bench/bench.h"

namespace CLI {
class App;
}

namespace belfry {

class BenchCommand {
 public:
  void add_to(CLI::App& app);

  // The exit code; none when it was another command.
  std::optional<int> run() const;

 private:
  BenchOptions options_;
  std::string store_parent_ = options_.store_parent.native();
  bool quick_ = false;
  const CLI::App* app_ = nullptr;
};

}  // namespace belfry
