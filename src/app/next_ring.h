// SPDX-License-Identifier: MIT
//
// What a person is told of a job that was made or changed: when it rings next, or why it does not.

#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "base/instant.h"

namespace belfry {

// "Tuesday 1 January 2030 at 03:00:00 UTC"
std::string in_words(Instant instant);

// A sentence about the job that the server answered. None: it is as it should be and has no next
// time, so its collection must be asked.
std::optional<std::string> next_ring(const std::string& job, const boost::json::value& answer);

// The sentence then, from what the server says of the collection.
std::string no_ring(const std::string& job, const boost::json::value& collection);

}  // namespace belfry
