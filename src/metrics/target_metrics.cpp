// SPDX-License-Identifier: MIT

#include "metrics/target_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace belfry {
namespace {

std::string name_of(const TargetLoad& load) {
  const bool is_ipv6 = load.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", load.scheme, is_ipv6 ? "[" : "", load.host,
                     is_ipv6 ? "]" : "", load.port);
}

}  // namespace

Families collect_targets(const std::vector<TargetLoad>& loads) {
  // Callers with certificates or passwords of their own have queues of their own at one target.
  std::map<std::string, double> waiting;
  for (const TargetLoad& load : loads) {
    if (load.waiting > 0) waiting[name_of(load)] += static_cast<double>(load.waiting);
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
                        "Calls that wait for a connection to their target, and messages that "
                        "wait for their broker's word, for the targets with the longest queues; "
                        "\"other\" is the sum of the rest."},
                       "origin", longest)};
}

}  // namespace belfry
