// SPDX-License-Identifier: MIT

#include "app/serve.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "api/api.h"
#include "api/response.h"
#include "app/bearer_tokens.h"
#include "app/engine_thread.h"
#include "app/engine_watch.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/file_limit.h"
#include "app/first_token.h"
#include "app/greeting.h"
#include "app/no_exec.h"
#include "app/notify_socket.h"
#include "app/occurrence_log.h"
#include "app/options_of.h"
#include "app/outside_monitor.h"
#include "app/pfx_upkeep.h"
#include "app/renewal.h"
#include "app/stop_signals.h"
#include "app/variables.h"
#include "app/version.h"
#include "app/virtual_store.h"
#include "app/virtual_time.h"
#include "base/failpoint.h"
#include "base/random.h"
#include "metrics/metrics_page.h"
#include "net/http_server.h"
#include "store/durable_file.h"

namespace belfry {
namespace {

constexpr std::string_view kStoreBroken =
    "the disk did not confirm a write: ending, to read what it holds at the next start";

// Silent where nobody listens: a server that can be used is no reason to end.
NotifySocket open_notify_socket() {
  auto socket = NotifySocket::open(from_environment);
  if (socket) return *std::move(socket);
  log(LogLevel::warning, "the service manager is told nothing",
      {{"reason", socket.error().message}});
  return {};
}

// A beat may come late by two before the service manager loses its patience.
Millis tick_of(const NotifySocket& notify) {
  return std::clamp(notify.watchdog().value_or(3 * kWatchTick) / 3, Millis{1}, kWatchTick);
}

// Nothing can be finished: what a stop waits for is what hangs. Started anew, the server goes on as
// after a crash.
[[noreturn]] void give_up() {
  log(LogLevel::error, "the engine has not taken a step for a minute: ending, to be started anew");
  std::_Exit(kFailed);
}

// Before there are threads: those that come later are bound by it too.
void forbid_programs() {
  const Status forbidden = forbid_exec();
  if (forbidden) return;
  log(LogLevel::warning, "nothing keeps this process from starting others",
      {{"reason", forbidden.error().message}});
}

// A warning, for it may be meant for another version.
void warn_of_unknown_variables() {
  tell_of_unknown_variables(environ, [](const std::string& name, const std::string& guess) {
    log(LogLevel::warning, "there is no setting for a variable of the environment",
        {{"variable", name}, {"nearest", guess}});
  });
}

// Somebody must be able to give access.
bool needs_first_token(const ServeSettings& settings) {
  return !settings.local_mode() && !grants_everything(settings.oidc);
}

Error with_other_address(Error error) {
  error.message += " --listen HOST:PORT (BELFRY_LISTEN) chooses another address.";
  return error;
}

ClientScheme scheme_of(const ServeSettings& settings) {
  if (settings.tls) return ClientScheme::https;
  return settings.behind_proxy ? ClientScheme::behind_proxy : ClientScheme::http;
}

// JSON may write a byte of a body in six: \u0000.
std::size_t request_bytes_for(std::size_t body_bytes_max) {
  return std::max(HttpServerLimits{}.body_bytes_max, 6 * body_bytes_max);
}

// The files that clients leave are for calls to targets.
std::size_t connections_allowed(int wanted) {
  const auto wished = static_cast<std::size_t>(wanted);
  const std::size_t files = files_max();
  const std::size_t allowed = connections_with(files, wished);
  if (allowed < wished) {
    log(LogLevel::warning, "fewer clients may be connected than connections-max says",
        {{"clients", fmt::to_string(allowed)}, {"files", fmt::to_string(files)}});
  }
  return allowed;
}

Labelled by_reason(const FailedAuthentications& failures) {
  Labelled counts;
  for (std::size_t i = 0; i < kAuthenticationFaults.size(); ++i) {
    const auto fault = static_cast<AuthenticationFault>(i);
    counts.emplace_back(name_of(fault), static_cast<double>(failures.count(fault)));
  }
  return counts;
}

// The row behind which those of the occurrence's error action stand.
Result<std::optional<HistoryEntry>> last_failed(Store& store, const Attempt& of) {
  const HistoryPlace begin{of.occurrence.seq, ActionRole::error, 0};
  TRY_ASSIGN(const auto rows,
             store.history({.job = of.job, .status = {}, .before = begin, .skip = 0, .limit = 1}));
  const bool found = !rows.empty() && rows.front().occurrence.seq == of.occurrence.seq;
  return found ? std::optional(rows.front()) : std::nullopt;
}

// The parts of a running server, in the order in which they are started. Each uses those above it,
// so they end in the reverse order.
class Serving {
 public:
  explicit Serving(const ServeSettings& settings)
      : settings_(settings), notify_(open_notify_socket()), clock_(make_clock(settings)) {}

  Status start();
  void run(const StopSignals& signals);
  void drain();
  bool store_broken() const { return store_broken_; }

 private:
  Status open_store();
  Status start_dispatcher();
  void start_engine();
  Status start_bearer_tokens();
  void start_api();
  Status bind_address();
  Status start_heartbeat();
  Status greet_operator();
  ApiOptions api_options();
  MetricsSources metrics_sources();

  const ServeSettings& settings_;
  const NotifySocket notify_;
  std::atomic<bool> store_broken_ = false;
  std::unique_ptr<SqliteStore> store_;
  const std::unique_ptr<Clock> clock_;
  const WallClock token_clock_;
  RunMetrics run_metrics_;
  OccurrenceLog occurrence_log_{settings_.log_level, *clock_, log};
  std::optional<Engine> engine_;
  std::unique_ptr<ActionDispatcher> dispatcher_;
  std::optional<EngineThread> engine_thread_;
  std::optional<EngineWatch> watch_;
  std::optional<PfxUpkeep> pfx_upkeep_;
  WorkerPool workers_{static_cast<std::size_t>(settings_.workers), WorkerLimits{}};
  std::unique_ptr<BearerTokens> bearer_tokens_;
  std::optional<VirtualTime> virtual_time_;
  HttpMetrics http_metrics_;
  std::optional<MetricsPage> metrics_page_;
  std::optional<Api> api_;
  std::unique_ptr<OutsideMonitor> monitor_;
  std::shared_ptr<TlsServer> tls_;
  std::unique_ptr<HttpServer> server_;
};

// What others may have, or settings get wrong, comes before the store: it leaves nothing behind.
Status Serving::start() {
  if (auto bound = bind_address(); !bound) return bound;
  if (auto started = start_dispatcher(); !started) return started;
  if (auto opened = open_store(); !opened) return opened;
  start_engine();
  if (auto started = start_bearer_tokens(); !started) return started;
  start_api();
  if (auto started = start_heartbeat(); !started) return started;
  if (auto served = server_->serve(); !served) return with_other_address(served.error());
  return greet_operator();
}

Status Serving::open_store() {
  SqliteOptions options;
  options.directory = settings_.store_directory;
  options.key_file = settings_.key_file;
  options.on_broken = [this] {
    log(LogLevel::error, kStoreBroken);
    store_broken_ = true;
    ::kill(::getpid(), SIGTERM);  // taken by the thread that waits for it
  };
  const bool is_virtual = settings_.virtual_clock.has_value();
  if (const auto fits = check_clock_of(options.directory, is_virtual); !fits) return fits;
  TRY_ASSIGN(store_, SqliteStore::open(options));
  return is_virtual ? mark_virtual(options.directory) : Done{};
}

Status Serving::start_dispatcher() {
  TRY_ASSIGN(ActionDispatcher::Options options, dispatcher_options_of(settings_));
  options.token_clock = &token_clock_;
  options.report = [this](const Attempt& attempt, Outcome outcome) {
    FAILPOINT("before-report");
    run_metrics_.reported(attempt, outcome);
    engine_->report(attempt, std::move(outcome));
    FAILPOINT("after-report");
  };
  options.last_failed = [this](const Attempt& of) { return last_failed(*store_, of); };
  TRY_ASSIGN(dispatcher_, ActionDispatcher::start(options, *clock_));
  return Done{};
}

void Serving::start_engine() {
  EngineOptions options = engine_options_of(settings_);
  options.observers = {&run_metrics_, &occurrence_log_};
  engine_.emplace(*store_, *dispatcher_, Random::from_entropy(), options);
  engine_->set_log([](LogLevel level, const std::string& line) { log(level, line); });
  engine_thread_.emplace(*engine_, *clock_, starts_of(settings_));
  pfx_upkeep_.emplace(*store_, *engine_);
  // A step that writes a million jobs takes longer than anybody has patience for, and does not
  // hang.
  const auto progress = [this] { return engine_thread_->steps_done() + store_->writes_tried(); };
  watch_.emplace(EngineWatch::Options{.progress = progress,
                                      .on_beat = [this] { notify_.alive(); },
                                      .on_giving_up = give_up,
                                      .tick = tick_of(notify_)});
  if (auto* clock = dynamic_cast<VirtualClock*>(clock_.get())) {
    virtual_time_.emplace(*clock, *engine_thread_);
  }
}

// None where no issuer is named.
Status Serving::start_bearer_tokens() {
  if (settings_.auth != AuthMode::oidc) return Done{};
  TRY_ASSIGN(HttpClient::Options http, http_options_of(settings_));
  TRY_ASSIGN(bearer_tokens_,
             BearerTokens::start(settings_.oidc, std::move(http), token_clock_, workers_));
  return Done{};
}

ApiOptions Serving::api_options() {
  ApiOptions options;
  if (!settings_.local_mode()) options.gate.tokens = store_.get();
  if (bearer_tokens_) {
    options.gate.verify_bearer = [this](const Secret& token, Verified verified) {
      bearer_tokens_->verify(token, std::move(verified));
    };
  }
  options.scheme = scheme_of(settings_);
  options.tokens = store_.get();
  options.audit = store_.get();
  options.plans = settings_.plans;
  options.locations = settings_.locations;
  options.rates = {settings_.credential_rates, settings_.subscription_rates,
                   settings_.failure_rate};
  options.success_status = settings_.success_status;
  options.held = settings_.held;
  options.body_bytes_max = settings_.body_bytes_max;
  options.run_preflight = [this](const Job& job, ActionRole role, PreflightRunner::Done done) {
    dispatcher_->preflight(job, role, std::move(done));
  };
  if (virtual_time_) {
    options.move_clock = [this](Instant to) { return virtual_time_->move_to(to); };
  }
  options.engine_trouble = [this] { return watch_->trouble(); };
  options.render_metrics = [this] { return metrics_page_->render(); };
  options.count_counted_jobs = [this](const JobKey& besides) {
    return store_->count_counted_jobs(besides);
  };
  return options;
}

MetricsSources Serving::metrics_sources() {
  const auto reading = [this] {
    return EngineReading{engine_thread_->steps_done(), engine_thread_->in_flight(),
                         engine_->store_trouble().empty()};
  };
  return {
      .runs = run_metrics_,
      .http = http_metrics_,
      .store = *store_,
      .clock = *clock_,
      .engine = reading,
      .targets = [this] { return dispatcher_->loads(); },
      .failed_authentications = [this] { return by_reason(api_->failed_authentications()); },
      .version = version_number(),
      .commit = build_commit(),
  };
}

void Serving::start_api() {
  metrics_page_.emplace(metrics_sources());
  api_.emplace(*store_, *engine_, *clock_, workers_, api_options());
}

Status Serving::bind_address() {
  HttpServer::Options options;
  options.host = settings_.host;
  options.port = settings_.port;
  options.threads = settings_.io_threads;
  if (settings_.behind_proxy) options.remote_address = HttpServer::RemoteAddress::behind_proxy;
  options.limits.body_bytes_max = request_bytes_for(settings_.body_bytes_max);
  options.limits.connections_max = connections_allowed(settings_.connections_max);
  if (settings_.tls) {
    TRY_ASSIGN(tls_, TlsServer::make(*settings_.tls));
    options.tls = tls_;
  }
  options.handler = [this](HttpRequest request, HttpServer::Respond respond) {
    api_->handle(std::move(request), http_metrics_.measured(std::move(respond)));
  };
  options.at_head = [this](const HttpRequest& head) {
    std::optional<HttpResponse> response = api_->turn_away(head);
    if (response) http_metrics_.refused(response->status);
    return response;
  };
  options.refusal = [this](int status, const std::string& what) {
    http_metrics_.refused(status);
    return refusal_response(status, what);
  };
  auto bound = HttpServer::bind(options);
  if (!bound) return with_other_address(bound.error());
  server_ = *std::move(bound);
  return Done{};
}

// None where nothing is to be sent: a copy that is looked at must not speak for the server that it
// is a copy of, and nobody waits for one whose clock stands still.
Status Serving::start_heartbeat() {
  if (settings_.heartbeat_url.empty()) return Done{};
  if (settings_.held || settings_.virtual_clock) {
    log(LogLevel::info, "there is no heartbeat while held, or under a virtual clock");
    return Done{};
  }
  TRY_ASSIGN(HttpClient::Options http, http_options_of(settings_));
  TRY_ASSIGN(monitor_, OutsideMonitor::start(settings_.heartbeat_url, std::move(http),
                                             [this] { return api_->is_ready(); }));
  return Done{};
}

// Only now that nothing can keep the token from being shown.
Status Serving::greet_operator() {
  FirstToken first_token;
  if (needs_first_token(settings_)) {
    TRY_ASSIGN(first_token,
               hand_out_first_token(*store_, clock_->now(), settings_.first_token_file));
  }
  TRY_ASSIGN(const JobCounts jobs, store_->count_jobs_by_state());
  greet(settings_, server_->port(), first_token, jobs);
  log(LogLevel::info, "serving",
      {{"host", settings_.host},
       {"port", server_->port()},
       {"store", full_path(settings_.store_directory).native()}});
  if (settings_.held) log(LogLevel::warning, "held: nothing is sent while --held is set");
  return Done{};
}

void Serving::run(const StopSignals& signals) {
  KeyRenewal keys(*store_);
  notify_.ready();
  signals.wait(notify_, [&] {
    if (tls_) renew_certificate(*tls_);
    keys.look();
    if (monitor_) monitor_->look(clock_->now());
  });
}

void Serving::drain() {
  log(LogLevel::info, "stopping: finishing what is under way");
  api_->stop_being_ready();
  pfx_upkeep_.reset();
  engine_thread_->stop_starting();
  // What comes back now could not be written down.
  const Millis grace = store_broken_ ? Millis{0} : settings_.drain_grace;
  notify_.stopping(grace);
  server_->drain(grace);
  engine_thread_->wait_until_settled(grace);
  dispatcher_->stop(Millis{0});
  engine_thread_->end();  // and stays: who watches it may still be looking
  watch_->end();          // only now: a stop waits for the engine too
  if (bearer_tokens_) bearer_tokens_->stop();
  workers_.finish();
  log(LogLevel::info, "stopped");
}

}  // namespace

Status serve(const ServeSettings& settings) {
  const StopSignals signals;
  set_log(settings.log_level, settings.log_format);
  warn_of_unknown_variables();
  raise_file_limit();
  forbid_programs();
  Serving serving(settings);
  if (auto started = serving.start(); !started) return started;
  serving.run(signals);
  serving.drain();
  if (serving.store_broken()) {
    return Error{ErrorCode::unavailable, std::string(kStoreBroken), {}};
  }
  return Done{};
}

}  // namespace belfry
