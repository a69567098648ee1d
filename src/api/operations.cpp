// SPDX-License-Identifier: MIT

#include "api/operations.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "engine/not_found.h"
#include "wire/json.h"

namespace belfry {
namespace {

namespace json = boost::json;

// {"properties": {"state": …}} and nothing else: to enable or to disable. Whoever may do that
// need not be allowed to change what a job does.
bool sets_state_only(const std::string& body) {
  const auto parsed = parse_json(body, JsonDialect::strict);
  const json::object* outer = parsed ? parsed->if_object() : nullptr;
  if (outer == nullptr || outer->size() != 1) return false;
  const auto& [name, value] = *outer->begin();
  const json::object* properties = value.if_object();
  return equal_ignoring_case(name, "properties") && properties != nullptr &&
         properties->size() == 1 && equal_ignoring_case(properties->begin()->key(), "state");
}

std::optional<Operation> change_of(const HttpRequest& request, Operation write, Operation set_state,
                                   Operation remove) {
  if (request.method == "PUT") return write;
  if (request.method == "PATCH") return sets_state_only(request.body) ? set_state : write;
  if (request.method == "DELETE") return remove;
  return std::nullopt;
}

std::optional<Operation> if_post(const HttpRequest& request, Operation operation) {
  if (request.method != "POST") return std::nullopt;
  return operation;
}

std::optional<Operation> if_read(const HttpRequest& request, Operation operation) {
  if (!is_read(request)) return std::nullopt;
  return operation;
}

}  // namespace

bool is_read(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

std::optional<Operation> operation_of(Resource resource, const HttpRequest& request) {
  switch (resource) {
    case Resource::provider:
    case Resource::collections_of_subscription:
    case Resource::collections_of_group:
    case Resource::audit:
      return if_read(request, Operation::list);
    case Resource::jobs:
    case Resource::job_history:
      return if_read(request, Operation::read);
    case Resource::collection:
      if (is_read(request)) return Operation::read;
      return change_of(request, Operation::write_collection, Operation::set_collection_state,
                       Operation::delete_collection);
    case Resource::job:
      if (is_read(request)) return Operation::read;
      return change_of(request, Operation::write_job, Operation::set_job_state,
                       Operation::delete_job);
    case Resource::collection_enable:
    case Resource::collection_disable:
      return if_post(request, Operation::set_collection_state);
    case Resource::job_enable:
    case Resource::job_disable:
      return if_post(request, Operation::set_job_state);
    case Resource::job_run:
      return if_post(request, Operation::run_job);
    case Resource::job_preflight:
      return if_post(request, Operation::preflight_job);
    case Resource::tokens:
      // Whose tokens one may see or make is decided by their scopes.
      if (is_read(request) || request.method == "POST") return Operation::list;
      return std::nullopt;
    case Resource::token:
      if (request.method == "DELETE") return Operation::list;
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view allowed_methods(Resource resource) {
  switch (resource) {
    case Resource::collection:
    case Resource::job:
      return "GET, PUT, PATCH, DELETE";
    case Resource::collection_enable:
    case Resource::collection_disable:
    case Resource::job_enable:
    case Resource::job_disable:
    case Resource::job_run:
    case Resource::job_preflight:
      return "POST";
    case Resource::tokens:
      return "GET, POST";
    case Resource::token:
      return "DELETE";
    default:
      return "GET";
  }
}

Scope scope_of(const ResourcePath& path) {
  return scope_of(path.key.collection);
}

std::string id_of(const ResourcePath& path) {
  if (is_own(path.resource)) return "/belfry";
  return path.key.name.empty() ? scope_id(scope_of(path)) : job_id(path.key);
}

Error missing(const ResourcePath& path, const HttpRequest& request) {
  const bool makes_job = path.resource == Resource::job && request.method == "PUT";
  const CollectionKey& key = path.key.collection;
  return makes_job ? parent_missing(key) : collection_not_found(key);
}

}  // namespace belfry
