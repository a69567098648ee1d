// SPDX-License-Identifier: MIT

#include "app/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "api/api.h"
#include "api/response.h"
#include "app/bearer_tokens.h"
#include "app/engine_thread.h"
#include "app/first_token.h"
#include "app/greeting.h"
#include "app/no_exec.h"
#include "app/notify_socket.h"
#include "app/occurrence_log.h"
#include "app/version.h"
#include "app/virtual_time.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/random.h"
#include "dispatch/action_dispatcher.h"
#include "metrics/metrics_page.h"
#include "net/http_server.h"
#include "net/tls_server.h"
#include "store/sqlite_store.h"

namespace belfry {
namespace {

constexpr std::string_view kStoreBroken =
    "the disk did not confirm a write: ending, to read what it holds at the next start";

// A commit that is under way and the next one, on a disk that takes its time.
constexpr Millis kStartAhead{25};

// How often files that may be replaced are looked at; SIGHUP has them looked at now.
constexpr Millis kLookAtFilesEvery = std::chrono::seconds{5};
// A beat may come late by two.
constexpr int kBeatsInWatchdog = 3;

// Signals are taken by one thread that waits for them, not by handlers that interrupt.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Silent where nobody listens: a server that can be used is no reason to end.
NotifySocket open_notify_socket() {
  auto socket = NotifySocket::open([](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  if (socket) return *std::move(socket);
  log(LogLevel::warning, "the service manager is told nothing",
      {{"reason", socket.error().message}});
  return {};
}

timespec wake_every(const NotifySocket& notify) {
  const Millis watchdog = notify.watchdog().value_or(kBeatsInWatchdog * kLookAtFilesEvery);
  const Millis period =
      std::clamp(watchdog / kBeatsInWatchdog, Millis{1}, Millis{kLookAtFilesEvery});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(period);
  return {.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(period - seconds).count()};
}

// Returns when the server is to stop.
void wait_for_stop(const sigset_t& signals, const NotifySocket& notify, Heartbeat& heartbeat,
                   const std::function<void()>& look_at_files) {
  const timespec period = wake_every(notify);
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &period);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) notify.reloading();
    look_at_files();
    if (signal == SIGHUP) notify.ready();
    heartbeat.beat();
  }
}

void renew_certificate(TlsServer& tls) {
  const auto renewed = tls.renew_if_changed();
  if (!renewed) {
    log(LogLevel::error, "the new certificate cannot be used, the old one stays",
        {{"reason", renewed.error().message}});
  } else if (*renewed) {
    log(LogLevel::info, "the certificate was renewed");
  }
}

// Says the same only once, however often it is asked.
class KeyRenewal {
 public:
  explicit KeyRenewal(SqliteStore& store) : store_(store) {}

  void look() {
    const auto renewed = store_.renew_keys();
    if (renewed && *renewed) log(LogLevel::info, "a new key seals secrets from now on");
    const std::string fault = renewed ? "" : renewed.error().message;
    if (!fault.empty() && fault != said_) {
      log(LogLevel::error, "the key file cannot be used, the keys stay as they were",
          {{"reason", fault}});
    }
    said_ = fault;
  }

 private:
  SqliteStore& store_;
  std::string said_;
};

// Every connection is a file. What the machine allows is more than most shells ask for.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Before there are threads: those that come later are bound by it too.
void forbid_programs() {
  const Status forbidden = forbid_exec();
  if (forbidden) return;
  log(LogLevel::warning, "nothing keeps this process from starting others",
      {{"reason", forbidden.error().message}});
}

// The machine's clock, or one that stands still.
std::unique_ptr<Clock> make_clock(const ServeSettings& settings) {
  if (settings.virtual_clock) return std::make_unique<VirtualClock>(*settings.virtual_clock);
  return std::make_unique<WallClock>();
}

EngineOptions engine_options_of(const ServeSettings& settings) {
  EngineOptions options;
  // Virtual time passes for the engine alone: no dispatcher can wait in it.
  if (!settings.virtual_clock) options.start_ahead = kStartAhead;
  options.catch_up = settings.catch_up;
  options.plans = settings.plans;
  // A year of virtual time is moved through from one thing due to the next.
  if (settings.virtual_clock) options.sweep_every = std::chrono::hours{24};
  return options;
}

Result<HttpClient::Options> http_options_of(const ServeSettings& settings) {
  HttpClient::Options options;
  if (settings.proxy) options.proxy = std::make_shared<const HttpProxy>(*settings.proxy);
  TRY_ASSIGN(options.tls, TlsClient::make({.extra_ca_file = settings.ca_file}));
  return options;
}

// None where no issuer is named.
Result<std::unique_ptr<BearerTokens>> start_bearer_tokens(const ServeSettings& settings,
                                                          const Clock& clock, WorkerPool& workers) {
  if (settings.auth != AuthMode::oidc) return std::unique_ptr<BearerTokens>();
  TRY_ASSIGN(HttpClient::Options http, http_options_of(settings));
  return BearerTokens::start(settings.oidc, std::move(http), clock, workers);
}

// Somebody must be able to give access.
bool needs_first_token(const ServeSettings& settings) {
  return !settings.local_mode() && !grants_everything(settings.oidc);
}

EngineReading reading_of(const EngineThread& thread, const Engine& engine) {
  return {thread.steps_done(), thread.in_flight(), engine.store_trouble().empty()};
}

Result<ActionDispatcher::Options> dispatcher_options_of(const ServeSettings& settings) {
  ActionDispatcher::Options options;
  options.identity = {std::string("Belfry/") + version_number(), settings.region};
  options.timeout = settings.timeout;
  TRY_ASSIGN(options.http, http_options_of(settings));
  // Local mode: the first job calls this very machine.
  options.http.guard =
      EgressGuard({.allow_loopback = settings.local_mode(), .allowed = settings.allowed_targets});
  options.storage_queue = settings.storage_queue;
  options.service_bus = settings.service_bus;
  options.oauth = settings.oauth;
  options.random = Random::from_entropy();
  return options;
}

}  // namespace

Status serve(const ServeSettings& settings) {
  const sigset_t signals = block_signals();
  set_log(settings.log_level, settings.log_format);
  raise_file_limit();
  forbid_programs();
  const NotifySocket notify = open_notify_socket();
  SqliteOptions store_options;
  store_options.directory = settings.store_directory;
  store_options.key_file = settings.key_file;
  std::atomic<bool> store_broken = false;
  store_options.on_broken = [&store_broken] {
    log(LogLevel::error, kStoreBroken);
    store_broken = true;
    ::kill(::getpid(), SIGTERM);  // taken by the thread that waits for it
  };
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, SqliteStore::open(store_options));

  const std::unique_ptr<Clock> clock = make_clock(settings);
  RunMetrics run_metrics;
  OccurrenceLog occurrence_log(settings.log_level, *clock, log);
  std::optional<Engine> engine;
  const WallClock token_clock;
  TRY_ASSIGN(ActionDispatcher::Options dispatcher_options, dispatcher_options_of(settings));
  dispatcher_options.token_clock = &token_clock;
  dispatcher_options.report = [&engine, &run_metrics](const Attempt& attempt, Outcome outcome) {
    FAILPOINT("before-report");
    run_metrics.reported(attempt, outcome);
    engine->report(attempt, std::move(outcome));
    FAILPOINT("after-report");
  };
  TRY_ASSIGN(const std::unique_ptr<ActionDispatcher> dispatcher,
             ActionDispatcher::start(dispatcher_options, *clock));
  EngineOptions engine_options = engine_options_of(settings);
  engine_options.observers = {&run_metrics, &occurrence_log};
  engine.emplace(*store, *dispatcher, Random::from_entropy(), engine_options);
  engine->set_log([](LogLevel level, const std::string& line) { log(level, line); });
  EngineThread engine_thread(*engine, *clock);

  WorkerPool workers(static_cast<std::size_t>(settings.workers), WorkerLimits{});
  ApiOptions api_options;
  if (!settings.local_mode()) api_options.gate.tokens = store.get();
  TRY_ASSIGN(const std::unique_ptr<BearerTokens> bearer_tokens,
             start_bearer_tokens(settings, token_clock, workers));
  if (bearer_tokens) {
    api_options.gate.verify_bearer = [&bearer_tokens](const Secret& token, Verified verified) {
      bearer_tokens->verify(token, std::move(verified));
    };
  }
  api_options.tokens = store.get();
  api_options.audit = store.get();
  api_options.plans = settings.plans;
  api_options.locations = settings.locations;
  api_options.rates = {settings.credential_rates, settings.subscription_rates,
                       settings.failure_rate};
  api_options.success_status = settings.success_status;
  api_options.run_preflight = [&dispatcher](const Job& job, ActionRole role,
                                            PreflightRunner::Done done) {
    dispatcher->preflight(job, role, std::move(done));
  };
  std::optional<VirtualTime> virtual_time;
  if (auto* virtual_clock = dynamic_cast<VirtualClock*>(clock.get())) {
    virtual_time.emplace(*virtual_clock, engine_thread);
    api_options.move_clock = [&virtual_time](Instant to) { return virtual_time->move_to(to); };
  }
  HttpMetrics http_metrics;
  MetricsPage metrics_page({
      .runs = run_metrics,
      .http = http_metrics,
      .store = *store,
      .clock = *clock,
      .engine = [&] { return reading_of(engine_thread, *engine); },
      .targets = [&] { return dispatcher->loads(); },
      .version = version_number(),
      .commit = build_commit(),
  });
  api_options.render_metrics = [&metrics_page] { return metrics_page.render(); };
  Api api(*store, *engine, *clock, workers, api_options);

  HttpServer::Options server_options;
  server_options.host = settings.host;
  server_options.port = settings.port;
  server_options.threads = settings.io_threads;
  server_options.limits.connections_max = static_cast<std::size_t>(settings.connections_max);
  std::shared_ptr<TlsServer> tls;
  if (settings.tls) {
    TRY_ASSIGN(tls, TlsServer::make(*settings.tls));
    server_options.tls = tls;
  }
  server_options.handler = [&api, &http_metrics](HttpRequest request, HttpServer::Respond respond) {
    api.handle(std::move(request), http_metrics.measured(std::move(respond)));
  };
  server_options.at_head = [&api, &http_metrics](const HttpRequest& head) {
    std::optional<HttpResponse> response = api.turn_away(head);
    if (response) http_metrics.refused(response->status);
    return response;
  };
  server_options.refusal = [&http_metrics](int status, const std::string& what) {
    http_metrics.refused(status);
    return refusal_response(status, what);
  };
  TRY_ASSIGN(const std::unique_ptr<HttpServer> server, HttpServer::start(server_options));
  // Only now that nothing can keep it from being shown.
  FirstToken first_token;
  if (needs_first_token(settings)) {
    TRY_ASSIGN(first_token, hand_out_first_token(*store, clock->now(), settings.first_token_file));
  }
  greet(settings, server->port(), first_token);
  first_token = {};
  log(LogLevel::info, "serving",
      {{"host", settings.host}, {"port", fmt::to_string(server->port())}});

  KeyRenewal keys(*store);
  Heartbeat heartbeat(notify, [&engine_thread] { return engine_thread.steps_done(); });
  notify.ready();
  wait_for_stop(signals, notify, heartbeat, [&] {
    if (tls) renew_certificate(*tls);
    keys.look();
  });
  log(LogLevel::info, "stopping: finishing what is under way");
  api.stop_being_ready();
  engine_thread.stop_starting();
  // What comes back now could not be written down.
  const Millis grace = store_broken ? Millis{0} : settings.drain_grace;
  notify.stopping(grace);
  server->drain(grace);
  engine_thread.wait_until_settled(grace);
  dispatcher->stop(Millis{0});
  engine_thread.end();  // and stays: who watches it may still be looking
  if (bearer_tokens) bearer_tokens->stop();
  workers.finish();
  log(LogLevel::info, "stopped");
  if (store_broken) return Error{ErrorCode::unavailable, std::string(kStoreBroken), {}};
  return Done{};
}

}  // namespace belfry
