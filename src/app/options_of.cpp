// SPDX-License-Identifier: MIT

#include "app/options_of.h"

#include <algorithm>

#include "app/version.h"
#include "base/random.h"

namespace belfry {
namespace {

// A commit that is under way and the next one, on a disk that takes its time.
constexpr Millis kStartAhead{25};

constexpr Ticks kForGood = std::chrono::days{365'000};

}  // namespace

std::unique_ptr<Clock> make_clock(const ServeSettings& settings) {
  if (settings.virtual_clock) return std::make_unique<VirtualClock>(*settings.virtual_clock);
  return std::make_unique<WallClock>();
}

Starts starts_of(const ServeSettings& settings) {
  if (settings.held) return Starts::never;
  return settings.virtual_clock ? Starts::when_told : Starts::at_once;
}

EngineOptions engine_options_of(const ServeSettings& settings) {
  EngineOptions options;
  // Virtual time passes for the engine alone: no dispatcher can wait in it.
  if (!settings.virtual_clock) options.start_ahead = kStartAhead;
  options.catch_up = settings.catch_up;
  options.plans = settings.plans;
  options.history_kept = settings.history_kept;
  // The history of a job goes with it.
  options.ended_jobs_kept = std::max(options.ended_jobs_kept, options.history_kept);
  // A copy that is looked at loses nothing for being old.
  if (settings.held) options.history_kept = options.ended_jobs_kept = kForGood;
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
  options.held = settings.held;
  options.random = Random::from_entropy();
  return options;
}

}  // namespace belfry
