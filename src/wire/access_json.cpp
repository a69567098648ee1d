// SPDX-License-Identifier: MIT

#include "wire/access_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "wire/iso8601.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kTimeBytesMax = 64;
constexpr std::string_view kKinds[] = {"local", "token", "bearer", "unknown"};
constexpr std::string_view kResults[] = {"created", "updated", "deleted", "started", "refused"};

json::array write_assignments(const Assignments& assignments) {
  json::array out;
  for (const Assignment& assignment : assignments) {
    out.push_back(
        json::object{{"role", name_of(assignment.role)}, {"scope", scope_id(assignment.scope)}});
  }
  return out;
}

std::optional<Assignment> read_assignment(const Element& element, Reading& reading) {
  const auto* object = element.value->if_object();
  if (object == nullptr) {
    reading.fail(element.path(), fmt::format("must be an object with role and scope; it is {}.",
                                             shown(*element.value)));
    return std::nullopt;
  }
  ObjectReader reader(*object, element.path(), reading);
  const auto role = reader.choice("role", kRoles);
  const auto text = reader.text("scope", kScopeBytesMax);
  if (reader.find("role") == nullptr) reader.fail("role", "is missing.");
  if (reader.find("scope") == nullptr) reader.fail("scope", "is missing: / is everything.");
  if (!role || !text) return std::nullopt;
  auto scope = parse_scope(*text);
  if (!scope) {
    reader.fail("scope", scope.error().message);
    return std::nullopt;
  }
  return Assignment{*role, *std::move(scope)};
}

Assignments read_assignments(const json::value& value, const std::string& path, Reading& reading) {
  Assignments out;
  for (const Element& element : elements_of(value, path, kAssignmentsMax, reading)) {
    if (auto assignment = read_assignment(element, reading)) {
      out.push_back(std::move(*assignment));
    }
  }
  return out;
}

// Control characters would spoil every table and log that shows the name.
bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

std::optional<Instant> read_expiry(ObjectReader& reader, Instant now) {
  const auto text = reader.text("expires", kTimeBytesMax);
  if (!text) return std::nullopt;
  auto expires = parse_instant(*text);
  if (const auto duration = parse_duration(*text); !expires && duration) expires = now + *duration;
  if (!expires || *expires <= now || *expires > kLastInstant) {
    reader.fail("expires", fmt::format("must be a time ahead such as 2030-01-31T00:00:00Z, or a "
                                       "duration such as P90D; it is '{}'.",
                                       *text));
    return std::nullopt;
  }
  return expires;
}

std::string_view state_of(const Token& token, Instant now) {
  if (token.revoked) return "revoked";
  return usable(token, now) ? "usable" : "expired";
}

}  // namespace

std::string assignments_text(const Assignments& assignments) {
  return json::serialize(write_assignments(assignments));
}

Result<Assignments> parse_assignments(std::string_view text) {
  TRY_ASSIGN(const json::value value, parse_json(text, JsonDialect::own));
  Reading reading;
  Assignments out = read_assignments(value, "assignments", reading);
  if (reading.errors.empty()) return out;
  return Error{ErrorCode::internal, "the assignments of a token make no sense", {}};
}

TokenRequest read_token_request(const json::value& body, Instant now, Reading& reading) {
  TokenRequest out;
  const auto* object = body.if_object();
  if (object == nullptr) {
    reading.fail("", fmt::format("The body must be a JSON object; it is {}.", shown(body)));
    return out;
  }
  ObjectReader reader(*object, "", reading);
  out.name = reader.text("name", kTokenNameBytesMax).value_or("");
  if (!is_printable(out.name)) reader.fail("name", "must have no control characters.");
  const json::value* name = reader.find("name");
  if (name == nullptr || (name->is_string() && out.name.empty())) {
    reader.fail("name", "is missing: it tells people what the token is for.");
  }
  out.expires = read_expiry(reader, now);
  if (const auto* assignments = reader.find("assignments")) {
    out.assignments = read_assignments(*assignments, "assignments", reading);
    if (out.assignments.empty() && reading.errors.empty()) {
      reader.fail("assignments", "must name at least one role and its scope.");
    }
  } else {
    reader.fail("assignments", "is missing: it names roles, each with its scope.");
  }
  return out;
}

json::object write_token(const Token& token, Instant now) {
  json::object out{{"id", token.id},
                   {"name", token.name},
                   {"state", state_of(token, now)},
                   {"assignments", write_assignments(token.assignments)},
                   {"created", format_instant(token.created)}};
  if (token.expires) out["expires"] = format_instant(*token.expires);
  if (token.revoked) out["revoked"] = format_instant(*token.revoked);
  return out;
}

json::object write_audit_row(const AuditRow& row) {
  const AuditedRequest& request = row.entry.request;
  json::object who{{"kind", kKinds[static_cast<std::size_t>(request.kind)]},
                   {"name", request.principal}};
  if (!request.principal_id.empty()) who["id"] = request.principal_id;
  json::object out{{"number", row.number},
                   {"time", format_instant(row.entry.at)},
                   {"principal", std::move(who)},
                   {"address", request.address},
                   {"operation", request.operation},
                   {"resource", request.resource},
                   {"result", kResults[static_cast<std::size_t>(row.entry.result)]}};
  if (!row.entry.before.empty()) out["before"] = row.entry.before;
  if (!row.entry.after.empty()) out["after"] = row.entry.after;
  out["hash"] = row.hash;
  return out;
}

}  // namespace belfry
