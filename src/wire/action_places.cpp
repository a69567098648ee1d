// SPDX-License-Identifier: MIT

#include "wire/action_places.h"

#include <boost/json/value.hpp>
#include <string_view>
#include <utility>

#include "wire/merge.h"

namespace belfry {
namespace {

namespace json = boost::json;

bool has(const json::object& object, std::string_view name) {
  return find_any_case(object, name) != object.end();
}

json::object* object_in(json::object& object, std::string_view name) {
  const auto member = find_any_case(object, name);
  return member == object.end() ? nullptr : object.at(member->key()).if_object();
}

json::value taken_from(json::object& object, std::string_view name) {
  const auto member = find_any_case(object, name);
  json::value value = std::move(object.at(member->key()));
  object.erase(member);
  return value;
}

// Objects move in memory when one beside them comes or goes: each is looked up when it is needed.
void move_from_request(json::object& action, std::string_view name) {
  json::object* const request = object_in(action, "request");
  if (request == nullptr || !has(*request, name) || has(action, name)) return;
  action[name] = taken_from(*request, name);
}

void move_into_action(json::object& properties, std::string_view name) {
  if (!has(properties, name)) return;
  if (!has(properties, "action")) properties["action"] = json::object{};
  const json::object* const action = object_in(properties, "action");
  if (action == nullptr || has(*action, name)) return;
  json::value value = taken_from(properties, name);
  (*object_in(properties, "action"))[name] = std::move(value);
}

void put_in_place_within(json::object& action) {
  move_from_request(action, "retryPolicy");
  move_from_request(action, "timeout");
}

}  // namespace

void put_in_place(json::object& properties) {
  move_into_action(properties, "errorAction");
  if (json::object* const action = object_in(properties, "action")) {
    put_in_place_within(*action);
    if (json::object* const error = object_in(*action, "errorAction")) put_in_place_within(*error);
  }
  move_into_action(properties, "retryPolicy");
}

}  // namespace belfry
