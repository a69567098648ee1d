// SPDX-License-Identifier: MIT

#include "net/http_client_admission.h"

#include "base/assert.h"

namespace belfry {
namespace {

template <typename Value>
Value value_or_zero(const std::unordered_map<std::string, Value>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? Value{} : found->second;
}

}  // namespace

bool HttpAdmission::has_room(const Origin& origin, const std::string& owner) const {
  const std::size_t connections = limits_.connections_per_origin_max;
  const std::size_t own_calls = value_or_zero(origin.calls_of_owner, owner);
  if (origin.calls >= connections + limits_.waiting_per_origin_max) return false;
  if (own_calls >= connections + limits_.waiting_per_owner_and_origin_max) return false;

  const Use own = value_or_zero(owners_, owner);
  if (all_.calls >= limits_.calls_max || own.calls >= limits_.calls_per_owner_max) return false;
  if (opens_connection(origin.calls) && all_.slots >= limits_.connections_max) return false;
  return !opens_connection(own_calls) || own.slots < limits_.connections_per_owner_max;
}

void HttpAdmission::take(Origin& origin, const std::string& owner) {
  add(all_, origin.calls++);
  add(owners_[owner], origin.calls_of_owner[owner]++);
}

void HttpAdmission::release(Origin& origin, const std::string& owner) {
  remove(all_, --origin.calls);
  const auto at_origin = origin.calls_of_owner.find(owner);
  const auto in_all = owners_.find(owner);
  ASSERT(at_origin != origin.calls_of_owner.end() && in_all != owners_.end());
  remove(in_all->second, --at_origin->second);
  // Who asks for nothing is not remembered: there may be many over the years.
  if (at_origin->second == 0) origin.calls_of_owner.erase(at_origin);
  if (in_all->second.calls == 0) owners_.erase(in_all);
}

void HttpAdmission::add(Use& use, std::size_t calls_at_origin) const {
  ++use.calls;
  use.slots += opens_connection(calls_at_origin) ? 1 : 0;
}

void HttpAdmission::remove(Use& use, std::size_t calls_left_at_origin) const {
  --use.calls;
  use.slots -= opens_connection(calls_left_at_origin) ? 1 : 0;
}

}  // namespace belfry
