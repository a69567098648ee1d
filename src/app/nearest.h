// SPDX-License-Identifier: MIT
//
// What somebody who made a typing error may have meant.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace belfry {

// The candidate that takes the fewest letters put in, left out, replaced or swapped with their
// neighbour; the first of equals. Empty when even that one is another word.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace belfry
