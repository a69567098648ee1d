// SPDX-License-Identifier: MIT

#include "net/http_client.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "base/short_slices.h"
#include "base/thread_name.h"
#include "net/http_client_loop.h"

namespace belfry {
namespace {

// What those that sign slowly may take, beside the others, is this part of it: so that not too many
// wait there for a signature.
constexpr std::size_t kSlowPart = 8;

// What one of several loops may take of what they have together.
HttpClientLimits share_of(HttpClientLimits limits, std::size_t loops) {
  for (std::size_t* limit :
       {&limits.connections_max, &limits.connections_per_owner_max, &limits.calls_max,
        &limits.calls_per_owner_max, &limits.calls_per_tenant_max, &limits.idle_max}) {
    *limit = std::max<std::size_t>(1, *limit / loops);
  }
  return limits;
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::start(Options options) {
  options.threads = std::max<std::size_t>(1, options.threads);
  if (!options.tls) {
    TRY_ASSIGN(options.tls, TlsClient::make({}));
  }
  std::unique_ptr<Resolver> resolver;
  if (!options.resolve) {
    resolver = std::make_unique<Resolver>();
    options.resolve = [own = resolver.get()](const std::string& host, ResolveDone done) {
      own->resolve(host, std::move(done));
    };
  }
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(options), std::move(resolver)));
}

HttpClient::HttpClient(Options options, std::unique_ptr<Resolver> resolver)
    : options_(std::make_shared<const Options>(std::move(options))),
      resolver_(std::move(resolver)) {
  for (std::size_t i = 0; i < options_->threads; ++i) start_loop("http-out", options_->threads);
  start_loop("http-sign", kSlowPart);
}

void HttpClient::start_loop(const char* name, std::size_t part) {
  loops_.push_back(std::make_shared<HttpClientLoop>(options_, share_of(options_->limits, part)));
  threads_.emplace_back([loop = loops_.back(), name] {
    name_thread(name);
    take_short_slices();
    loop->run();
  });
}

HttpClient::~HttpClient() {
  stop();
}

// The resolver ends before the loops go: its thread posts to them.
void HttpClient::stop() {
  for (const auto& loop : loops_) loop->stop_taking();
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  resolver_.reset();
}

HttpClientLoop& HttpClient::loop_of(const HttpDestination& to) {
  if (to.tls && to.tls->signs_slowly()) return *loops_.back();
  const std::size_t hash = std::hash<std::string>{}(to.origin.host) + to.origin.port;
  return *loops_[hash % options_->threads];
}

bool HttpClient::send(HttpCall call, Done done) {
  HttpDestination to{call.origin, call.owner, call.tls};
  const Ticks hold = call.hold;
  const auto made = std::make_shared<HttpCall>(std::move(call));
  return send(
      std::move(to), hold, [made] { return std::move(*made); }, std::move(done));
}

bool HttpClient::send(HttpDestination to, Ticks hold, Make make, Done done) {
  HttpClientLoop& loop = loop_of(to);
  return loop.send(std::move(to), hold, std::move(make), std::move(done));
}

std::optional<HttpRoom> HttpClient::reserve(HttpDestination to) {
  return loop_of(to).reserve(std::move(to));
}

void HttpClient::send(HttpRoom room, HttpCall call, Done done) {
  const auto loop = room.loop_;
  loop->send(std::move(room), std::move(call), std::move(done));
}

HttpRoom::HttpRoom(std::shared_ptr<HttpClientLoop> loop, HttpOriginPool& pool, std::string owner)
    : loop_(std::move(loop)), pool_(&pool), owner_(std::move(owner)) {}

HttpRoom::HttpRoom(HttpRoom&&) noexcept = default;

HttpRoom::~HttpRoom() {
  if (loop_) loop_->release(*pool_, owner_);
}

std::vector<TargetLoad> HttpClient::loads() const {
  std::vector<TargetLoad> all;
  for (const auto& loop : loops_) loop->add_loads(all);
  return all;
}

bool HttpClient::drain(Millis grace) {
  for (const auto& loop : loops_) loop->stop_taking();
  const SteadyTime until = SteadyClock::now() + grace;
  return std::all_of(loops_.begin(), loops_.end(),
                     [until](const auto& loop) { return loop->wait_for_none(until); });
}

}  // namespace belfry
