// SPDX-License-Identifier: MIT
//
// What a measurement found, and how it is printed: one JSON line for machines (tools/bench reads
// them), one line of a table for people.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace belfry {

struct Figures {
  std::string what;
  std::vector<std::pair<std::string, double>> values;
  std::optional<bool> met = std::nullopt;  // the target, where there is one
};

std::string as_json(const Figures& figures);
std::string as_line(const Figures& figures);

// Of values in any order; 0 where there are none.
double quantile(std::vector<double> values, double part);

}  // namespace belfry
