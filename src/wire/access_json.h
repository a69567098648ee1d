// SPDX-License-Identifier: MIT
//
// Access tokens and the rows of the audit log as JSON: ours, for Azure had neither here.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/audit.h"
#include "model/token.h"
#include "wire/json.h"

namespace belfry {

inline constexpr std::size_t kScopeBytesMax = 512;

// For the store.
std::string assignments_text(const Assignments& assignments);
Result<Assignments> parse_assignments(std::string_view text);

// The body of POST /belfry/tokens. `expires` is a date, or how long from now.
struct TokenRequest {
  std::string name;
  Assignments assignments;
  std::optional<Instant> expires;
};
TokenRequest read_token_request(const boost::json::value& body, Instant now, Reading& reading);

boost::json::object write_token(const Token& token, Instant now);
boost::json::object write_audit_row(const AuditRow& row);

}  // namespace belfry
