// SPDX-License-Identifier: MIT
//
// JSON as tokens, sets of keys and issuers' metadata have it: one object, not deep, no member
// twice. Seen by access/jw*.cpp only: it brings in Boost.JSON.

#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace belfry {

inline constexpr std::size_t kJwtDepthMax = 8;

std::optional<boost::json::object> parse_jwt_object(std::string_view text);

// None where it is absent or no string.
std::optional<std::string> text_member(const boost::json::object& object, std::string_view name);

}  // namespace belfry
