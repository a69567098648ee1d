// SPDX-License-Identifier: MIT
//
// A member that an object has twice means one thing to one reader of JSON and another to the
// next: whoever takes JSON from a stranger refuses it. Boost's own value keeps only the last of
// two equal names, without a word; this finds them.

#pragma once

#include <boost/json/parse_options.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace belfry {

// The first such name, at any depth, of a text that is known to parse with these options.
std::optional<std::string> member_given_twice(std::string_view text,
                                              const boost::json::parse_options& options);

}  // namespace belfry
