// SPDX-License-Identifier: MIT

#include "api/api.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "api/response.h"
#include "wire/collection_json.h"
#include "wire/error_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

std::string_view path_of(const HttpRequest& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

std::string_view query_of(const HttpRequest& request) {
  const auto mark = request.target.find('?');
  if (mark == std::string::npos) return {};
  return std::string_view(request.target).substr(mark + 1);
}

std::string_view allowed_methods(Resource resource) {
  switch (resource) {
    case Resource::collection:
    case Resource::job:
      return "GET, PUT, PATCH, DELETE";
    case Resource::collection_enable:
    case Resource::collection_disable:
    case Resource::job_run:
    case Resource::job_preflight:
      return "POST";
    default:
      return "GET";
  }
}

HttpResponse wrong_method(const HttpRequest& request, Resource resource) {
  HttpResponse response =
      error_response({ErrorCode::wrong_method,
                      fmt::format("{} is not possible here; possible are {}.",
                                  request.method.substr(0, 32), allowed_methods(resource)),
                      {}});
  response.headers.emplace_back("Allow", std::string(allowed_methods(resource)));
  return response;
}

bool is_read(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

Api::Api(Store& store, Engine& engine, const Clock& clock, WorkerPool& workers, ApiOptions options)
    : store_(store),
      engine_(engine),
      clock_(clock),
      workers_(workers),
      options_(std::move(options)) {}

void Api::handle(HttpRequest request, Respond respond) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->respond = std::move(respond);
  const std::string_view path = path_of(call->request);
  if (path == "/healthz") return answer(call, json_response(200, {{"status", "ok"}}));
  if (path == "/readyz") return answer_ready(call);

  const auto permit = gate_.admit(call->request);
  if (!permit) return answer(call, error_response(permit.error()));
  const bool taken = workers_.try_post([this, call, permit = *permit] { route(permit, call); });
  if (!taken) {
    answer(call, error_response({ErrorCode::busy, "Too many requests are waiting.", {}}));
  }
}

void Api::answer(const CallPtr& call, HttpResponse response) {
  add_request_ids(response, call->request);
  call->respond(std::move(response));
}

void Api::answer_ready(const CallPtr& call) {
  json::object body;
  json::array reasons = reasons_not_to_be_ready();
  const bool ready = reasons.empty();
  body["status"] = ready ? "ok" : "not ready";
  if (!ready) body["reasons"] = std::move(reasons);
  answer(call, json_response(ready ? 200 : 503, body));
}

json::array Api::reasons_not_to_be_ready() const {
  json::array reasons;
  if (ending_) reasons.emplace_back("the server is stopping: it finishes what is under way");
  if (const std::string trouble = engine_.store_trouble(); !trouble.empty()) {
    reasons.emplace_back(fmt::format("the store cannot be used: {}", trouble));
  }
  if (!clock_.trusted()) {
    reasons.emplace_back(
        "the clock has just jumped; nothing is started until it has stood for a while");
  }
  return reasons;
}

void Api::route(const Permit&, const CallPtr& call) {
  if (options_.move_clock && path_of(call->request) == "/clock") {
    return answer(call, clock(*call));
  }
  const auto path = parse_resource_path(path_of(call->request));
  if (!path) return answer(call, error_response(path.error()));
  call->path = *path;
  const auto query = parse_query(query_of(call->request));
  if (!query) return answer(call, error_response(query.error()));
  call->query = *query;
  if (path->resource != Resource::provider) {
    const auto version = known_api_version(*query);
    if (!version) return answer(call, error_response(version.error()));
    call->version = *version;
  }

  const std::string& method = call->request.method;
  const CollectionKey& collection = call->path.key.collection;
  const auto empty = [](const Reply&) { return empty_response(200); };
  switch (path->resource) {
    case Resource::provider:
      if (is_read(call->request)) return answer(call, provider(*call));
      break;
    case Resource::collections_of_subscription:
    case Resource::collections_of_group:
      if (is_read(call->request)) return answer(call, list_collections(*call));
      break;
    case Resource::collection:
      if (is_read(call->request)) return answer(call, get_collection(*call));
      if (method == "PUT") return put_collection(call);
      if (method == "PATCH") return patch_collection(call, kPatchTriesMax);
      if (method == "DELETE") return submit(call, DeleteCollectionCommand{collection}, empty);
      break;
    case Resource::collection_enable:
    case Resource::collection_disable:
      if (method == "POST") {
        const bool enable = path->resource == Resource::collection_enable;
        const auto state = enable ? CollectionState::enabled : CollectionState::disabled;
        return submit(call, SetCollectionStateCommand{collection, state}, empty);
      }
      break;
    case Resource::jobs:
      if (is_read(call->request)) return answer(call, list_jobs(*call));
      break;
    case Resource::job:
      if (is_read(call->request)) return answer(call, get_job(*call));
      if (method == "PUT") return put_job(call);
      if (method == "PATCH") return patch_job(call, kPatchTriesMax);
      if (method == "DELETE") return submit(call, DeleteJobCommand{call->path.key}, empty);
      break;
    case Resource::job_run:
      if (method == "POST") return submit(call, RunJobCommand{call->path.key}, empty);
      break;
    case Resource::job_preflight:
      if (method == "POST") return preflight(call);
      break;
    case Resource::job_history:
      if (is_read(call->request)) return answer(call, list_history(*call));
      break;
  }
  answer(call, wrong_method(call->request, path->resource));
}

void Api::submit(const CallPtr& call, Command command, Render render,
                 std::function<void()> changed) {
  // The reply comes on the engine's thread, which has better things to do than to write JSON.
  auto reply_to = [this, call, render = std::move(render),
                   changed = std::move(changed)](Result<Reply> reply) {
    workers_.post([this, call, render, changed, reply = std::move(reply)] {
      if (reply) {
        answer(call, render(*reply));
      } else if (reply.error().code == ErrorCode::changed && changed) {
        changed();
      } else {
        answer(call, error_response(reply.error()));
      }
    });
  };
  if (!engine_.submit(std::move(command), std::move(reply_to))) {
    answer(call, error_response({ErrorCode::busy, "Too many writes are waiting.", {}}));
  }
}

}  // namespace belfry
