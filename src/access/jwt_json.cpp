// SPDX-License-Identifier: MIT

#include "access/jwt_json.h"

#include <boost/json/parse.hpp>
#include <utility>

#include "model/json_members.h"

namespace belfry {

namespace json = boost::json;

std::optional<json::object> parse_jwt_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = kJwtDepthMax;
  json::error_code error;
  json::value parsed = json::parse({text.data(), text.size()}, error, {}, options);
  if (error || !parsed.is_object() || member_given_twice(text, options)) return std::nullopt;
  return std::move(parsed.get_object());
}

std::optional<std::string> text_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

}  // namespace belfry
