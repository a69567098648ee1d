// SPDX-License-Identifier: MIT
//
// Errors as ARM writes them: an HTTP status and {"error":{"code","message"}}. This is the one
// place that knows which of our errors is which of Azure's.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace belfry {

int http_status(ErrorCode code);

// The body for one error.
std::string error_body(const Error& error);

// The body for a job or collection that breaks rules: the message begins with the live
// service's words and names the first fault; `details` has all of them when there are more.
std::string malformed_body(const std::string& what, const std::vector<Error>& errors);

}  // namespace belfry
