// SPDX-License-Identifier: MIT

#include "metrics/target_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace belfry {
namespace {

std::string name_of(const HttpOrigin& origin) {
  const bool is_ipv6 = origin.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", origin.https ? "https" : "http", is_ipv6 ? "[" : "",
                     origin.host, is_ipv6 ? "]" : "", origin.port);
}

}  // namespace

Families collect_targets(const std::vector<HttpOriginLoad>& loads) {
  // Callers with certificates of their own have queues of their own at the same origin.
  std::map<std::string, double> waiting;
  for (const HttpOriginLoad& load : loads) {
    if (load.waiting > 0) waiting[name_of(load.origin)] += static_cast<double>(load.waiting);
  }
  Labelled longest(waiting.begin(), waiting.end());
  const std::size_t named = std::min(longest.size(), kTargetsNamedMax);
  std::partial_sort(longest.begin(), longest.begin() + static_cast<long>(named), longest.end(),
                    [](const auto& a, const auto& b) { return a.second > b.second; });
  double others = 0;
  for (std::size_t i = named; i < longest.size(); ++i) others += longest[i].second;
  longest.resize(named);
  longest.emplace_back("other", others);
  return {gauge_family({"belfry_target_queue_depth",
                        "Calls that wait for a connection to their target, for the targets with "
                        "the longest queues; \"other\" is the sum of the rest."},
                       "origin", longest)};
}

}  // namespace belfry
