// SPDX-License-Identifier: MIT
//
// The operator says where a service is: an address with a placeholder for the account or
// namespace that a job names, in the host ("https://{account}.queue.example") or in the path
// ("http://127.0.0.1:10001/{account}", as emulators have it).

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/url.h"

namespace belfry {

// `text` with `by` wherever it had `part`.
std::string replaced(std::string_view text, std::string_view part, std::string_view by);

// The address of one account; its target has no slash at the end and may be empty. None when
// what comes out is no http or https address, or has a query.
std::optional<Url> endpoint_of(std::string_view pattern, std::string_view placeholder,
                               std::string_view name);

}  // namespace belfry
