// SPDX-License-Identifier: MIT
//
// Api answers the REST API. A request passes the gate, its path is matched, its body is
// parsed and checked; then a write is submitted to the engine and answered when it is
// durable, and a read goes straight to the store. Nothing is stored on any error.
//
// handle() is called on I/O threads and never blocks; the work is done on a WorkerPool.

#pragma once

#include <atomic>
#include <boost/json/array.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/failed_authentications.h"
#include "api/gate.h"
#include "api/known_clients.h"
#include "api/next_link.h"
#include "api/rate_limits.h"
#include "api/worker_pool.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "model/plan.h"
#include "model/preflight.h"
#include "net/http.h"
#include "store/audit_log.h"
#include "store/store.h"
#include "store/token_store.h"
#include "wire/job_json.h"
#include "wire/query.h"
#include "wire/resource_path.h"

namespace belfry {

inline constexpr std::size_t kCollectionsPerPage = 1000;
inline constexpr std::size_t kJobsPerPage = 1000;
inline constexpr std::size_t kJobsPageBytesMax = 64 * 1024 * 1024;  // were each as large as it may
inline constexpr std::size_t kHistoryPerPage = 500;
inline constexpr std::size_t kTokensPerPage = 500;
inline constexpr std::size_t kAuditRowsPerPage = 500;
inline constexpr int kPatchTriesMax = 5;

// Moves the virtual clock; blocks until everything that is due on the way has been done.
using MoveClock = std::function<Result<Instant>(Instant to)>;

// Finds out how far an action of a job would come; answers once, on any thread.
using RunPreflight =
    std::function<void(const Job& job, ActionRole role, std::function<void(Preflight)> done)>;

// How often one may ask; none is as often as one likes.
struct ApiRates {
  Rates credential;    // of whoever asks, whatever for
  Rates subscription;  // what all together may ask of one
  Rate failures;       // of one address, to say who asks
};

struct ApiOptions {
  GateOptions gate;
  ClientScheme scheme = ClientScheme::http;
  ApiRates rates;
  TokenStore* tokens = nullptr;  // none: /belfry/tokens is not served
  AuditLog* audit = nullptr;     // none: /belfry/audit is not served
  Plans plans = Plans::azure();
  std::vector<std::string> locations;
  SuccessStatus success_status = SuccessStatus::omitted;
  bool held = false;                           // nothing is started, and /readyz says so
  std::size_t body_bytes_max = kBodyBytesMax;  // of a job's request
  RunPreflight run_preflight;
  std::function<std::string()> engine_trouble;  // none: nobody watches it
  std::function<std::string()> render_metrics;  // none: /metrics is not served
  // How many jobs besides this one ask for metrics of their own; none: nobody counts.
  std::function<Result<std::int64_t>(const JobKey& besides)> count_counted_jobs;
  MoveClock move_clock;  // empty: the clock is the machine's, and /clock is not served
};

class Api {
 public:
  using Respond = std::function<void(HttpResponse)>;

  // Everything must outlive the Api and the requests it was given.
  Api(Store& store, Engine& engine, const Clock& clock, WorkerPool& workers, ApiOptions options);

  void handle(HttpRequest request, Respond respond);

  // The answer to a request that is one too many, as far as its head tells; on an I/O thread. It
  // counts nothing: what it lets pass is counted when it is known who asks.
  std::optional<HttpResponse> turn_away(const HttpRequest& head) const;

  // What /readyz says. Any thread.
  bool is_ready() const { return reasons_not_to_be_ready().empty(); }

  // What came to nothing because nobody was recognised.
  const FailedAuthentications& failed_authentications() const { return failures_; }

  // The server is about to end; /readyz says so from now on. Any thread.
  void stop_being_ready() { ending_ = true; }

 private:
  // One request on its way to an answer.
  struct Call {
    HttpRequest request;
    Respond respond;
    ResourcePath path;
    Query query;
    ApiVersion version = ApiVersion::v2016_03_01;
    HttpHeaders headers;  // of the answer, whatever it is
  };
  using CallPtr = std::shared_ptr<Call>;

  void answer_to_all(std::string_view path, const CallPtr& call);
  void admit(const CallPtr& call);
  std::optional<HttpResponse> too_many_of(const HttpRequest& head) const;
  bool knows_clients(RequestKind kind) const;
  std::optional<HttpResponse> too_many_there(const Principal& who, const HttpRequest& head) const;
  void note_failure(const HttpRequest& request, const FailedAuthentication& failure);
  void route(const Caller& caller, const CallPtr& call);
  // Counts the request; where it is one too many, answers it.
  bool within_rate_of_credential(const Caller& caller, const CallPtr& call);
  bool within_rate_of_subscription(const Permit& permit, const CallPtr& call);
  void perform(const Permit& permit, const CallPtr& call);
  void answer(const CallPtr& call, HttpResponse response);
  void answer_ready(const CallPtr& call);
  boost::json::array reasons_not_to_be_ready() const;
  HttpResponse clock(const Permit& permit, const Call& call);
  void metrics(const Caller& caller, const CallPtr& call);

  HttpResponse provider(const Permit& permit, const Call& call);
  HttpResponse list_collections(const Permit& permit, const Call& call);
  HttpResponse get_collection(const Permit& permit, const Call& call);
  HttpResponse list_jobs(const Permit& permit, const Call& call);
  HttpResponse get_job(const Permit& permit, const Call& call);
  HttpResponse list_history(const Permit& permit, const Call& call);
  HttpResponse list_audit(const Permit& permit, const Call& call);

  void put_collection(const Permit& permit, const CallPtr& call);
  void patch_collection(const Permit& permit, const CallPtr& call, int tries_left);
  std::vector<Error> too_many_counted(const JobDefinition& wanted, const JobKey& key) const;
  void put_job(const Permit& permit, const CallPtr& call, int tries_left);
  std::vector<Error> faults_of(const Timing& timing, const JobKey& key);
  void patch_job(const Permit& permit, const CallPtr& call, int tries_left);
  void preflight(const Permit& permit, const CallPtr& call);

  // Each asks the gate about the scopes of the tokens themselves.
  HttpResponse list_tokens(const Permit& permit, const Call& call);
  HttpResponse create_token(const Permit& permit, const Call& call);
  HttpResponse revoke_token(const Permit& permit, const Call& call);

  // Submits and answers with what `render` makes of the reply. `changed` is called instead of
  // answering when somebody else's write came first.
  using Render = std::function<HttpResponse(const Reply&)>;
  void submit(const Permit& permit, const CallPtr& call, Command command, Render render,
              std::function<void()> changed = {});

  // Writes the job as the client of this call wants it.
  std::size_t jobs_per_page() const;
  void write_resource(JsonWriter& out, const Call& call, const Job& job) const;
  HttpResponse job_response(int status, const Call& call, const Job& job) const;
  std::string next_link(const Call& call, const std::string& token) const;

  Store& store_;
  Engine& engine_;
  const Clock& clock_;
  WorkerPool& workers_;
  ApiOptions options_;
  Gate gate_;
  RateLimits credential_rates_;
  RateLimits subscription_rates_;
  RateLimits failure_rates_;  // by address, of IPv6 by network
  FailedAuthentications failures_;
  KnownClients known_clients_;
  std::atomic<bool> ending_ = false;
};

}  // namespace belfry
