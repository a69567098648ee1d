// SPDX-License-Identifier: MIT

#include "api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <iterator>

#include "api/openapi.h"
#include "api/operations.h"
#include "api/response.h"
#include "base/log.h"
#include "net/egress_guard.h"
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
HttpResponse too_many(const std::string& what, const Allowance& allowance) {
  const auto seconds = std::chrono::ceil<Seconds>(allowance.retry_after);
  return throttled_response(
      fmt::format("Number of {} exceeded. Please try again after '{}' seconds.", what,
                  seconds.count()),
      allowance.retry_after);
}

HttpResponse too_many(RequestKind kind, const std::string& whose, const Allowance& allowance) {
  return too_many(fmt::format("'{}' requests for {}", name_of(kind), whose), allowance);
}

std::pair<std::string, std::string> remaining(RequestKind kind, const Allowance& allowance) {
  return {fmt::format("x-ms-ratelimit-remaining-subscription-{}s", name_of(kind)),
          fmt::to_string(allowance.remaining)};
}

// The subscription that a path names, if it names one as everybody writes it: what is spelt with
// escapes is left to the gate.
std::string_view subscription_in(std::string_view path) {
  constexpr std::string_view kPrefix = "/subscriptions/";
  if (!equal_ignoring_case(path.substr(0, kPrefix.size()), kPrefix)) return {};
  path.remove_prefix(kPrefix.size());
  return path.substr(0, path.find('/'));
}

// As the gate would say of the request, but that it sees no body: a PATCH is taken for the greater
// change. Whoever may not must not learn whether others have asked for much.
bool may_ask(const Principal& who, const HttpRequest& head) {
  const auto path = parse_resource_path(path_of(head));
  if (!path) return false;
  const auto operation = operation_of(path->resource, head);
  const Scope subscription{path->key.collection.subscription, "", ""};
  return operation && may(who, *operation, scope_of(*path)) && has_part_in(who, subscription);
}

std::string_view credential_of(const HttpRequest& request) {
  return header_of(request.headers, "Authorization");
}

// By which the requests of a credential are counted.
std::string key_of(const Principal& who) {
  return fmt::format("{} {}", static_cast<int>(who.kind), who.id);
}

// By which requests without a good credential are counted. Whoever has one IPv6 address has all of
// its network, 2^64 of them.
std::string failure_key_of(const HttpRequest& request) {
  auto address = IpAddress::parse(request.remote_address);
  if (!address || address->family == IpAddress::Family::v4) return request.remote_address;
  std::fill(address->bytes.begin() + 8, address->bytes.end(), std::uint8_t{0});
  return address->text() + "/64";
}

// What a watchdog asks, or anybody: it takes neither a credential nor a worker.
bool is_open_to_all(std::string_view path) {
  return path == "/healthz" || path == "/readyz" || path == "/openapi.json";
}

// Who takes turns with others at the workers: found without asking whether it is who it says.
std::string client_of(const HttpRequest& request) {
  const std::string_view credential = credential_of(request);
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

}  // namespace

Api::Api(Store& store, Engine& engine, const Clock& clock, WorkerPool& workers, ApiOptions options)
    : store_(store),
      engine_(engine),
      clock_(clock),
      workers_(workers),
      options_(std::move(options)),
      gate_(options_.gate),
      credential_rates_(options_.rates.credential),
      subscription_rates_(options_.rates.subscription),
      failure_rates_(Rates{.reads = options_.rates.failures, .writes = {}}) {}

void Api::handle(HttpRequest request, Respond respond) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->respond = std::move(respond);
  const std::string_view path = path_of(call->request);
  if (is_open_to_all(path)) return answer_to_all(path, call);

  if (!workers_.try_post(client_of(call->request), [this, call] { admit(call); })) {
    const WorkerLimits& limits = workers_.limits();
    answer(call, error_response({ErrorCode::busy,
                                 fmt::format("Too many requests are waiting: {} may in all, and {} "
                                             "of one client.",
                                             limits.waiting_max, limits.waiting_per_client_max),
                                 {}}));
  }
}

void Api::answer_to_all(std::string_view path, const CallPtr& call) {
  const HttpRequest& request = call->request;
  if (!is_read(request)) {
    return answer(call, wrong_method_response(request.method, kReadingMethods));
  }
  if (path == "/healthz") return answer(call, json_response(200, {{"status", "ok"}}));
  if (path == "/readyz") return answer_ready(call);
  answer(call, openapi_response());
}

std::optional<HttpResponse> Api::turn_away(const HttpRequest& head) const {
  if (is_open_to_all(path_of(head))) return {};
  std::optional<HttpResponse> response = too_many_of(head);
  if (response) add_request_ids(*response, head);
  return response;
}

bool Api::knows_clients(RequestKind kind) const {
  return credential_rates_.limited(kind) || subscription_rates_.limited(kind) ||
         failure_rates_.limited(RequestKind::read);
}

// Who is known to be somebody does not pay for others at the same address, which may be a proxy's.
std::optional<HttpResponse> Api::too_many_of(const HttpRequest& head) const {
  const RequestKind kind = kind_of(head);
  if (!knows_clients(kind)) return {};
  const Instant now = clock_.now();
  if (const auto client = known_clients_.find(credential_of(head))) {
    const Allowance allowance = credential_rates_.look(client->key, kind, now);
    if (allowance.granted) return too_many_there(*client->who, head);
    return too_many(kind, fmt::format("client '{}'", client->who->name), allowance);
  }
  const Allowance allowance = failure_rates_.look(failure_key_of(head), RequestKind::read, now);
  if (allowance.granted) return {};
  return too_many("requests from this address without a known access token", allowance);
}

// A bucket that is not empty is the rule, so that is asked first; whether one may know of an empty
// one, then.
std::optional<HttpResponse> Api::too_many_there(const Principal& who,
                                                const HttpRequest& head) const {
  const RequestKind kind = kind_of(head);
  const std::string subscription(subscription_in(path_of(head)));
  if (subscription.empty() || !subscription_rates_.limited(kind)) return {};
  const Allowance allowance = subscription_rates_.look(folded(subscription), kind, clock_.now());
  if (allowance.granted || !may_ask(who, head)) return {};
  HttpResponse response = too_many(kind, fmt::format("subscription '{}'", subscription), allowance);
  response.headers.push_back(remaining(kind, allowance));
  return response;
}

void Api::note_failure(const HttpRequest& request, const FailedAuthentication& failure) {
  const Instant now = clock_.now();
  const std::string address = failure_key_of(request);
  known_clients_.forget(credential_of(request));
  failure_rates_.take(address, RequestKind::read, now);
  auto traces = failures_.note(failure, address, now);
  if (traces.logged) {
    log(LogLevel::warning, "authentication failed",
        {{"reason", std::string(name_of(failure.fault))}, {"address", request.remote_address}});
  }
  if (!traces.row) return;
  // Where too much waits for the engine there is no row: the counter tells.
  const auto nobody = [](const Result<Reply>&) {};
  engine_.submit(NoteRefusalCommand{}, nobody, std::move(traces.row));
}

void Api::admit(const CallPtr& call) {
  gate_.admit(call->request, clock_.now(), [this, call](const Admission& admission) {
    if (admission.failure) note_failure(call->request, *admission.failure);
    const Result<Caller>& caller = admission.caller;
    if (!caller) return answer(call, error_response(caller.error()));
    if (within_rate_of_credential(*caller, call)) route(*caller, call);
  });
}

bool Api::within_rate_of_credential(const Caller& caller, const CallPtr& call) {
  const Principal& who = caller.principal();
  const RequestKind kind = kind_of(call->request);
  const Allowance allowance = credential_rates_.take(key_of(who), kind, clock_.now());
  if (knows_clients(kind)) {
    known_clients_.remember(credential_of(call->request), {key_of(who), caller.shared_principal()});
  }
  if (!allowance.granted) {
    answer(call, too_many(kind, fmt::format("client '{}'", who.name), allowance));
  }
  return allowance.granted;
}

// Asked only for what the caller may do there, and of a list, which is nothing for a stranger, only
// for somebody who has a part in the subscription: nobody uses up what belongs to others.
bool Api::within_rate_of_subscription(const Permit& permit, const CallPtr& call) {
  const std::string& subscription = call->path.key.collection.subscription;
  const RequestKind kind = kind_of(call->request);
  if (subscription.empty() || !subscription_rates_.limited(kind)) return true;
  if (!has_part_in(permit.caller().principal(), {subscription, "", ""})) return true;
  const Allowance allowance = subscription_rates_.take(folded(subscription), kind, clock_.now());
  call->headers.push_back(remaining(kind, allowance));
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
  if (options_.held) {
    reasons.emplace_back("the server is held: it was started with --held, and sends nothing");
  }
  if (options_.engine_trouble) {
    if (const std::string trouble = options_.engine_trouble(); !trouble.empty()) {
      reasons.emplace_back(trouble);
    }
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
  auto parsed = parse_resource_path(path_of(call->request));
  if (!parsed) return answer(call, error_response(parsed.error()));
  const ResourcePath& path = call->path = *std::move(parsed);
  auto query = parse_query(query_of(call->request));
  if (!query) return answer(call, error_response(query.error()));
  call->query = *std::move(query);
  if (path.resource != Resource::provider && !is_own(path.resource)) {
    const auto version = known_api_version(call->query);
    if (!version) return answer(call, error_response(version.error()));
    call->version = *version;
  }
  const auto operation = operation_of(path.resource, call->request);
  if (!operation) {
    const std::string_view allowed = allowed_methods(path.resource);
    return answer(call, wrong_method_response(call->request.method, allowed));
  }
  const auto permit = gate_.permit(caller, {*operation, scope_of(path), id_of(path)},
                                   [&] { return missing(path, call->request); });
  if (!permit) return answer(call, error_response(permit.error()));
  if (within_rate_of_subscription(*permit, call)) perform(*permit, call);
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
      if (method == "PUT") return put_job(permit, call, kPatchTriesMax);
      if (method == "PATCH") return patch_job(permit, call, kPatchTriesMax);
      if (method == "DELETE") return submit(permit, call, DeleteJobCommand{key}, empty);
      return answer(call, get_job(permit, *call));
    case Resource::job_enable:
    case Resource::job_disable: {
      const bool enable = call->path.resource == Resource::job_enable;
      return submit(permit, call, SetJobStateCommand{key, enable}, empty);
    }
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
                   changed = std::move(changed)](Result<Reply> reply) mutable {
    workers_.post([this, call, render = std::move(render), changed = std::move(changed),
                   reply = std::move(reply)] {
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
    answer(call, error_response(
                     {ErrorCode::busy,
                      fmt::format("{} writes are waiting, and no more may.", kWaitingCommandsMax),
                      {}}));
  }
}

}  // namespace belfry
