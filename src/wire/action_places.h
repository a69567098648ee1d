// SPDX-License-Identifier: MIT
//
// Where the members of an action may stand. The founding documents print some of them in places
// where answers never have them; a PATCH that names them there means what answers show elsewhere.

#pragma once

#include <boost/json/object.hpp>

namespace belfry {

// Brings what a PATCH says of retryPolicy, errorAction and timeout, null too, to where what is
// stored has it. What the patch gives in both places is left in both: reading it takes the one in
// its own place, and names the other as ignored.
void put_in_place(boost::json::object& properties);

}  // namespace belfry
