// SPDX-License-Identifier: MIT

#include "api/api.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <iterator>

#include "api/openapi.h"
#include "api/operations.h"
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

RequestKind kind_of(const HttpRequest& request) {
  return is_read(request) ? RequestKind::read : RequestKind::write;
}

std::string_view name_of(RequestKind kind) {
  return kind == RequestKind::read ? "read" : "write";
}

// In the words of Azure's resource manager.
HttpResponse too_many(RequestKind kind, const std::string& whose, const Allowance& allowance) {
  const auto seconds = std::chrono::ceil<Seconds>(allowance.retry_after);
  return throttled_response(fmt::format("Number of '{}' requests for {} exceeded. Please try again "
                                        "after '{}' seconds.",
                                        name_of(kind), whose, seconds.count()),
                            allowance.retry_after);
}

// Who takes turns with others at the workers: found without asking whether it is who it says.
std::string client_of(const HttpRequest& request) {
  const std::string_view credential = header_of(request.headers, "Authorization");
  return credential.empty() ? request.remote_address : std::string(credential);
}

// A page of a list may have to be gathered from all over the disk.
bool may_take_long(Resource resource) {
  switch (resource) {
    case Resource::collections_of_subscription:
    case Resource::collections_of_group:
    case Resource::jobs:
    case Resource::job_history:
    case Resource::audit:
      return true;
    default:
      return false;
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

}  // namespace

Api::Api(Store& store, Engine& engine, const Clock& clock, WorkerPool& workers, ApiOptions options)
    : store_(store),
      engine_(engine),
      clock_(clock),
      workers_(workers),
      options_(std::move(options)),
      gate_(options_.gate),
      credential_rates_(options_.rates.credential),
      subscription_rates_(options_.rates.subscription) {}

void Api::handle(HttpRequest request, Respond respond) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->respond = std::move(respond);
  const std::string_view path = path_of(call->request);
  if (path == "/healthz") return answer(call, json_response(200, {{"status", "ok"}}));
  if (path == "/readyz") return answer_ready(call);
  if (path == "/openapi.json") return answer(call, openapi_response(call->request));

  if (!workers_.try_post(client_of(call->request), [this, call] { admit(call); })) {
    answer(call, error_response({ErrorCode::busy, "Too many requests are waiting.", {}}));
  }
}

void Api::admit(const CallPtr& call) {
  gate_.admit(call->request, clock_.now(), [this, call](const Result<Caller>& caller) {
    if (!caller) return answer(call, error_response(caller.error()));
    if (within_rate_of_credential(*caller, call)) route(*caller, call);
  });
}

bool Api::within_rate_of_credential(const Caller& caller, const CallPtr& call) {
  const Principal& who = caller.principal();
  const RequestKind kind = kind_of(call->request);
  const Allowance allowance = credential_rates_.take(
      fmt::format("{} {}", static_cast<int>(who.kind), who.id), kind, clock_.now());
  if (!allowance.granted) {
    answer(call, too_many(kind, fmt::format("client '{}'", who.name), allowance));
  }
  return allowance.granted;
}

// Asked only for what the caller may do there: nobody uses up what belongs to others.
bool Api::within_rate_of_subscription(const CallPtr& call) {
  const std::string& subscription = call->path.key.collection.subscription;
  const RequestKind kind = kind_of(call->request);
  if (subscription.empty() || !subscription_rates_.limited(kind)) return true;
  const Allowance allowance = subscription_rates_.take(folded(subscription), kind, clock_.now());
  call->headers.emplace_back(
      fmt::format("x-ms-ratelimit-remaining-subscription-{}s", name_of(kind)),
      fmt::to_string(allowance.remaining));
  if (!allowance.granted) {
    answer(call, too_many(kind, fmt::format("subscription '{}'", subscription), allowance));
  }
  return allowance.granted;
}

void Api::answer(const CallPtr& call, HttpResponse response) {
  std::move(call->headers.begin(), call->headers.end(), std::back_inserter(response.headers));
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

void Api::route(const Caller& caller, const CallPtr& call) {
  if (options_.move_clock && path_of(call->request) == "/clock") {
    const auto permit = gate_.permit_anywhere(caller, {Operation::move_clock, {}, "/clock"});
    return answer(call, permit ? clock(*permit, *call) : error_response(permit.error()));
  }
  if (options_.render_metrics && path_of(call->request) == "/metrics") {
    return metrics(caller, call);
  }
  const auto path = parse_resource_path(path_of(call->request));
  if (!path) return answer(call, error_response(path.error()));
  call->path = *path;
  const auto query = parse_query(query_of(call->request));
  if (!query) return answer(call, error_response(query.error()));
  call->query = *query;
  if (path->resource != Resource::provider && !is_own(path->resource)) {
    const auto version = known_api_version(*query);
    if (!version) return answer(call, error_response(version.error()));
    call->version = *version;
  }
  const auto operation = operation_of(path->resource, call->request);
  if (!operation) return answer(call, wrong_method(call->request, path->resource));
  const auto permit = gate_.permit(caller, {*operation, scope_of(*path), id_of(*path)},
                                   missing(*path, call->request));
  if (!permit) return answer(call, error_response(permit.error()));
  if (within_rate_of_subscription(call)) perform(*permit, call);
}

void Api::perform(const Permit& permit, const CallPtr& call) {
  const std::string& method = call->request.method;
  const JobKey& key = call->path.key;
  const auto empty = [](const Reply&) { return empty_response(200); };
  if (may_take_long(call->path.resource)) workers_.step_aside();
  switch (call->path.resource) {
    case Resource::provider:
      return answer(call, provider(permit, *call));
    case Resource::collections_of_subscription:
    case Resource::collections_of_group:
      return answer(call, list_collections(permit, *call));
    case Resource::collection:
      if (method == "PUT") return put_collection(permit, call);
      if (method == "PATCH") return patch_collection(permit, call, kPatchTriesMax);
      if (method == "DELETE") {
        return submit(permit, call, DeleteCollectionCommand{key.collection}, empty);
      }
      return answer(call, get_collection(permit, *call));
    case Resource::collection_enable:
    case Resource::collection_disable: {
      const bool enable = call->path.resource == Resource::collection_enable;
      const auto state = enable ? CollectionState::enabled : CollectionState::disabled;
      return submit(permit, call, SetCollectionStateCommand{key.collection, state}, empty);
    }
    case Resource::jobs:
      return answer(call, list_jobs(permit, *call));
    case Resource::job:
      if (method == "PUT") return put_job(permit, call);
      if (method == "PATCH") return patch_job(permit, call, kPatchTriesMax);
      if (method == "DELETE") return submit(permit, call, DeleteJobCommand{key}, empty);
      return answer(call, get_job(permit, *call));
    case Resource::job_run:
      return submit(permit, call, RunJobCommand{key}, empty);
    case Resource::job_preflight:
      return preflight(permit, call);
    case Resource::job_history:
      return answer(call, list_history(permit, *call));
    case Resource::tokens:
      if (method == "POST") return answer(call, create_token(permit, *call));
      return answer(call, list_tokens(permit, *call));
    case Resource::token:
      return answer(call, revoke_token(permit, *call));
    case Resource::audit:
      return answer(call, list_audit(permit, *call));
  }
}

void Api::submit(const Permit& permit, const CallPtr& call, Command command, Render render,
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
  if (!engine_.submit(std::move(command), std::move(reply_to), permit.audited())) {
    answer(call, error_response({ErrorCode::busy, "Too many writes are waiting.", {}}));
  }
}

}  // namespace belfry
