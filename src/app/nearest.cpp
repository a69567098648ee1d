// SPDX-License-Identifier: MIT

#include "app/nearest.h"

#include <algorithm>

namespace belfry {
namespace {

// Of typing errors in a word of this length; more make another word of it.
std::size_t errors_max(std::string_view word) {
  return word.size() < 4 ? 1 : 2 + word.size() / 10;
}

// Row by row, as everybody does it; three rows are enough to know a swap.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t fewest = errors_max(word) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t errors = distance(word, candidate);
    if (errors >= fewest) continue;
    fewest = errors;
    best = candidate;
  }
  return best;
}

}  // namespace belfry
