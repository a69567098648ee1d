// SPDX-License-Identifier: MIT
//
// /clock: the virtual clock of `belfry serve --virtual-clock`. GET tells the time, POST moves
// it: {"advance": "PT1H"} or {"to": "2030-01-01T00:00Z"}.

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "api/api.h"
#include "api/operations.h"
#include "api/response.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

namespace json = boost::json;

Result<Instant> wanted_time(const std::string& body, Instant now) {
  TRY_ASSIGN(const json::value value, parse_json(body, JsonDialect::strict));
  const auto* object = value.if_object();
  const Error wrong{ErrorCode::invalid,
                    "The body must be {\"advance\": \"PT1H\"} or {\"to\": "
                    "\"2030-01-01T00:00:00Z\"}.",
                    {}};
  if (object == nullptr || object->size() != 1 || !object->begin()->value().is_string()) {
    return wrong;
  }
  const json::string& text = object->begin()->value().get_string();
  if (object->begin()->key() == "to") {
    const auto instant = parse_instant(text);
    return instant ? Result<Instant>(*instant) : Result<Instant>(wrong);
  }
  const auto duration = parse_duration(text);
  if (object->begin()->key() != "advance" || !duration) return wrong;
  return now + *duration;
}

}  // namespace

HttpResponse Api::clock(const Permit&, const Call& call) {
  const std::string& method = call.request.method;
  if (!is_read(call.request) && method != "POST") {
    return wrong_method_response(method, "GET, HEAD, POST");
  }
  if (method == "POST") {
    const auto to = wanted_time(call.request.body, clock_.now());
    if (!to) return error_response(to.error());
    const auto moved = options_.move_clock(*to);
    if (!moved) return error_response(moved.error());
  }
  json::object body;
  body["now"] = format_instant(clock_.now());
  return json_response(200, body);
}

}  // namespace belfry
