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

std::string tenant_of(const std::string& owner) {
  return owner.substr(0, owner.find('/'));
}

void count_down(std::unordered_map<std::string, std::size_t>& counts, const std::string& key) {
  const auto found = counts.find(key);
  ASSERT(found != counts.end());
  if (--found->second == 0) counts.erase(found);
}

}  // namespace

bool HttpAdmission::has_room(const Origin& origin, const std::string& owner) const {
  const std::size_t connections = limits_.connections_per_origin_max;
  const std::size_t own_calls = value_or_zero(origin.calls_of_owner, owner);
  if (origin.calls >= connections + limits_.waiting_per_origin_max) return false;
  if (own_calls >= connections + limits_.waiting_per_owner_and_origin_max) return false;

  const std::string tenant = tenant_of(owner);
  if (value_or_zero(origin.calls_of_tenant, tenant) >=
      connections + limits_.waiting_per_tenant_and_origin_max) {
    return false;
  }
  if (value_or_zero(calls_of_tenant_, tenant) >= limits_.calls_per_tenant_max) return false;
  const Use own = value_or_zero(owners_, owner);
  if (all_.calls >= limits_.calls_max || own.calls >= limits_.calls_per_owner_max) return false;
  if (opens_connection(origin.calls) && all_.slots >= limits_.connections_max) return false;
  return !opens_connection(own_calls) || own.slots < limits_.connections_per_owner_max;
}

void HttpAdmission::take(Origin& origin, const std::string& owner) {
  add(all_, origin.calls++);
  add(owners_[owner], origin.calls_of_owner[owner]++);
  const std::string tenant = tenant_of(owner);
  ++origin.calls_of_tenant[tenant];
  ++calls_of_tenant_[tenant];
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
  const std::string tenant = tenant_of(owner);
  count_down(origin.calls_of_tenant, tenant);
  count_down(calls_of_tenant_, tenant);
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
