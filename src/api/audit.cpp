// SPDX-License-Identifier: MIT
//
// GET /belfry/audit: the rows of the audit log, the newest first, as far as one may read what
// they are about. $filter=scope eq '/subscriptions/…' narrows it, $top shortens it.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/api.h"
#include "api/response.h"
#include "wire/access_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

Result<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number > 0) return number;
  return Error{ErrorCode::invalid, "$skiptoken is not one that we gave out.", "$skiptoken"};
}

void add_scope(std::vector<Scope>& scopes, const Scope& scope) {
  const auto covered = [&](const Scope& other) { return covers(other, scope); };
  if (std::any_of(scopes.begin(), scopes.end(), covered)) return;
  std::erase_if(scopes, [&](const Scope& other) { return covers(scope, other); });
  scopes.push_back(scope);
}

// The parts of `wanted` that one may read; none lies in another.
std::vector<Scope> readable(const Principal& principal, const Scope& wanted) {
  std::vector<Scope> scopes;
  for (const Assignment& assignment : principal.assignments) {
    if (covers(assignment.scope, wanted)) {
      add_scope(scopes, wanted);
    } else if (covers(wanted, assignment.scope)) {
      add_scope(scopes, assignment.scope);
    }
  }
  return scopes;
}

bool newer(const AuditRow& a, const AuditRow& b) {
  return a.number > b.number;
}

}  // namespace

HttpResponse Api::list_audit(const Permit& permit, const Call& call) {
  if (options_.audit == nullptr) {
    return error_response({ErrorCode::no_such_route, "The audit log is not served here.", {}});
  }
  Scope wanted;
  if (call.query.filter) {
    auto scope = parse_scope_filter(*call.query.filter);
    if (!scope) return error_response(scope.error());
    wanted = *std::move(scope);
  }
  AuditQuery query;
  const std::size_t size = call.query.top.value_or(kAuditRowsPerPage);
  query.limit = size + 1;
  if (call.query.skip_token) {
    const auto number = parse_number(*call.query.skip_token);
    if (!number) return error_response(number.error());
    query.before = *number;
  }
  std::vector<AuditRow> rows;
  for (const Scope& scope : readable(permit.caller().principal(), wanted)) {
    query.scope = folded(scope);
    auto found = options_.audit->audit_rows(query);
    if (!found) return error_response(found.error());
    std::move(found->begin(), found->end(), std::back_inserter(rows));
  }
  std::sort(rows.begin(), rows.end(), newer);
  std::string link;
  if (rows.size() > size) {
    rows.resize(size);
    link = next_link(call, fmt::to_string(rows.back().number));
  }
  return page_response(rows, link, [](JsonWriter& out, const AuditRow& row) {
    out.json(json::serialize(write_audit_row(row)));
  });
}

}  // namespace belfry
