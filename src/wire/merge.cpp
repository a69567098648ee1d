// SPDX-License-Identifier: MIT

#include "wire/merge.h"

#include <algorithm>

#include "wire/json.h"

namespace belfry {
namespace {

namespace json = boost::json;

bool type_changes(const json::object& target, const json::object& patch) {
  const auto now = find_any_case(target, "type");
  const auto wanted = find_any_case(patch, "type");
  if (now == target.end() || wanted == patch.end()) return false;
  const auto* now_text = now->value().if_string();
  const auto* wanted_text = wanted->value().if_string();
  return now_text == nullptr || wanted_text == nullptr ||
         !equal_ignoring_case(*now_text, *wanted_text);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view other) { return equal_ignoring_case(name, other); });
}

void merge_member(json::object& target, std::string_view name, const json::value& value,
                  std::initializer_list<std::string_view> whole) {
  const auto there = find_any_case(target, name);
  if (value.is_null()) {
    if (there != target.end()) target.erase(there);
    return;
  }
  if (there == target.end()) {
    target[name] = value;
    return;
  }
  json::value& place = target.at(there->key());
  if (is_one_of(name, whole)) {
    place = value;
  } else {
    merge_into(place, value, whole);
  }
}

}  // namespace

json::object::const_iterator find_any_case(const json::object& object, std::string_view name) {
  return std::find_if(object.begin(), object.end(),
                      [&](const auto& member) { return equal_ignoring_case(member.key(), name); });
}

void merge_into(json::value& target, const json::value& patch,
                std::initializer_list<std::string_view> whole) {
  const auto* patch_object = patch.if_object();
  auto* target_object = target.if_object();
  if (patch_object == nullptr || target_object == nullptr ||
      type_changes(*target_object, *patch_object)) {
    target = patch;
    return;
  }
  for (const auto& [name, value] : *patch_object) merge_member(*target_object, name, value, whole);
}

bool names_member(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::object* at = &object;
  for (const auto* name = path.begin(); name != path.end(); ++name) {
    const auto member = find_any_case(*at, *name);
    if (member == at->end()) return false;
    if (name + 1 == path.end()) return true;
    at = member->value().if_object();
    if (at == nullptr) return false;
  }
  return false;
}

}  // namespace belfry
