// SPDX-License-Identifier: MIT
//
// PATCH: a body laid over what is there, member by member (RFC 7396), with two differences
// that the live service had: member names are compared without regard to case, and an object
// whose `type` changes is replaced whole.

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <initializer_list>
#include <string_view>

namespace belfry {

// Objects are merged, null removes, everything else replaces. Members named in `whole`, at
// any depth, are replaced and not merged.
void merge_into(boost::json::value& target, const boost::json::value& patch,
                std::initializer_list<std::string_view> whole);

boost::json::object::const_iterator find_any_case(const boost::json::object& object,
                                                  std::string_view name);

// Does the object have this member below it, whatever its value?
bool names_member(const boost::json::object& object, std::initializer_list<std::string_view> path);

}  // namespace belfry
