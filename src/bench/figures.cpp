// SPDX-License-Identifier: MIT

#include "bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace belfry {
namespace {

// Three digits after the point where there is something to see in them.
std::string shown(double value) {
  return std::abs(value) >= 100 || value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.3f}", value);
}

}  // namespace

std::string as_json(const Figures& figures) {
  std::string line = fmt::format(R"({{"bench":"belfry","case":"{}")", figures.what);
  for (const auto& [name, value] : figures.values) {
    line += fmt::format(R"(,"{}":{})", name, shown(value));
  }
  if (figures.met) line += fmt::format(R"(,"met":{})", *figures.met);
  return line + "}\n";
}

std::string as_line(const Figures& figures) {
  const char* const mark = !figures.met ? "" : *figures.met ? "met" : "MISSED";
  std::string line = fmt::format("{:44} {:7}", figures.what, mark);
  for (const auto& [name, value] : figures.values)
    line += fmt::format("{}={}  ", name, shown(value));
  return line + "\n";
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

}  // namespace belfry
