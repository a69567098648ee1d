// SPDX-License-Identifier: MIT

#include "net/http_client_loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>
#include <iterator>
#include <utility>

#include "net/http_client_request.h"
#include "net/http_proxy.h"

namespace belfry {
namespace {

// How exactly deadlines are kept. One timer for all of them: setting and clearing one per
// call would cost more than the call's own bookkeeping.
constexpr Millis kTick{20};

constexpr std::size_t kInboxSlice = 64;

void write_down(const HttpCall& call, const HttpProxy* proxy, HttpExchange& exchange) {
  using Answering = HttpResponseReader::Answering;
  if (std::optional<std::string> bytes = render_http_call(call, proxy)) {
    exchange.bytes = std::make_shared<const std::string>(*std::move(bytes));
  }
  exchange.answering = call.method == "HEAD" ? Answering::head : Answering::get;
  exchange.probe = call.probe;
  exchange.body_kept_bytes_max = call.body_kept_bytes_max;
  exchange.deadline = exchange.held_until + call.timeout;
}

HttpExchangePtr exchange_of(std::string owner, Ticks hold, HttpClient::Done done) {
  auto exchange = std::make_unique<HttpExchange>();
  exchange->done = std::move(done);
  exchange->owner = std::move(owner);
  exchange->accepted = exchange->begun = SteadyClock::now();
  exchange->held_until = exchange->accepted + hold;
  return exchange;
}

}  // namespace

std::size_t HttpClientLoop::KeyHash::operator()(const HttpOriginKey& key) const {
  const std::size_t host = std::hash<std::string>{}(key.origin.host);
  return host ^ std::hash<const void*>{}(key.tls.get()) ^ (std::size_t{key.origin.port} << 1) ^
         (key.origin.https ? 1u : 0u);
}

// The call itself is made and written down on the loop's thread: whoever sends, the engine, has
// thousands to send in one go.
bool HttpClientLoop::send(HttpDestination to, Ticks hold, HttpClient::Make make,
                          HttpClient::Done done) {
  HttpOriginKey key = key_of(to);
  HttpExchangePtr exchange = exchange_of(std::move(to.owner), hold, std::move(done));
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    HttpOriginPool* pool = admit(std::move(key), exchange->owner);
    if (pool == nullptr) return false;
    first = put_in_inbox({pool, std::move(exchange), std::move(make)});
  }
  if (first) boost::asio::post(context_, [this] { take_inbox(); });
  return true;
}

std::optional<HttpRoom> HttpClientLoop::reserve(HttpDestination to) {
  HttpOriginKey key = key_of(to);
  const std::lock_guard lock(mutex_);
  HttpOriginPool* pool = admit(std::move(key), to.owner);
  if (pool == nullptr) return std::nullopt;
  return HttpRoom(shared_from_this(), *pool, std::move(to.owner));
}

void HttpClientLoop::send(HttpRoom room, HttpCall call, HttpClient::Done done) {
  HttpExchangePtr exchange = exchange_of(std::move(room.owner_), call.hold, std::move(done));
  const auto made = std::make_shared<HttpCall>(std::move(call));
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = put_in_inbox({room.pool_, std::move(exchange), [made] { return std::move(*made); }});
  }
  room.loop_.reset();  // from here on the exchange has the room
  if (first) boost::asio::post(context_, [this] { take_inbox(); });
}

// Whether the loop is to be told: where something lay there before, it has been.
bool HttpClientLoop::put_in_inbox(Submission submission) {
  inbox_.push_back(std::move(submission));
  return inbox_.size() == 1;
}

HttpOriginKey HttpClientLoop::key_of(HttpDestination& to) const {
  const bool proxied = options_->proxy && options_->proxy->carries(to.origin);
  return {std::move(to.origin), to.tls ? std::move(to.tls) : options_->tls,
          proxied ? options_->proxy : nullptr};
}

HttpOriginPool* HttpClientLoop::admit(HttpOriginKey key, const std::string& owner) {
  if (!taking_) return nullptr;
  static const HttpAdmission::Origin kNothingTaken;
  const auto known = pools_.find(key);
  const bool is_known = known != pools_.end();
  if (!admission_.has_room(is_known ? known->second.taken : kNothingTaken, owner)) return nullptr;
  HttpOriginPool& pool =
      is_known ? known->second : pools_.try_emplace(key, *this, key).first->second;
  admission_.take(pool.taken, owner);
  return &pool;
}

void HttpClientLoop::release(HttpOriginPool& pool, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  admission_.release(pool.taken, owner);
  if (admission_.none()) none_.notify_all();
}

// A slice at a time: between two of them the loop looks at its timers and sockets, for calls that
// are due meanwhile wait for nobody's thousands.
void HttpClientLoop::take_inbox() {
  std::vector<Submission> submissions;
  {
    const std::lock_guard lock(mutex_);
    const auto end =
        inbox_.begin() + static_cast<std::ptrdiff_t>(std::min(inbox_.size(), kInboxSlice));
    std::move(inbox_.begin(), end, std::back_inserter(submissions));
    inbox_.erase(inbox_.begin(), end);
    if (!inbox_.empty()) boost::asio::post(context_, [this] { take_inbox(); });
  }
  for (Submission& submission : submissions) {
    write_down(std::exchange(submission.make, {})(), submission.pool->proxy(),
               *submission.exchange);
    const SteadyTime until = submission.exchange->held_until;
    if (until <= submission.exchange->accepted) {
      begin(std::move(submission));
    } else {
      held_.hold(until, std::move(submission));
    }
  }
  if (!timer_armed_) arm_timer();
}

void HttpClientLoop::begin(Submission submission) {
  if (submission.exchange->bytes) return submission.pool->submit(std::move(submission.exchange));
  finish(*submission.pool, std::move(submission.exchange),
         HttpFailure{HttpFailureKind::invalid_call,
                     "a header, the method or the address cannot be sent"});
}

// The room is given back first: whoever is told may send at once.
void HttpClientLoop::finish(HttpOriginPool& pool, HttpExchangePtr exchange, HttpOutcome outcome) {
  release(pool, exchange->owner);
  const Ticks waited = std::chrono::duration_cast<Ticks>(exchange->begun - exchange->accepted);
  exchange->done({std::move(outcome), waited});
}

void HttpClientLoop::arm_timer() {
  timer_armed_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check_deadlines();
  });
}

void HttpClientLoop::check_deadlines() {
  const SteadyTime now = SteadyClock::now();
  for (HttpOriginPool* pool : pools()) pool->check_deadlines(now);
  forget_empty_pools();
}

std::vector<HttpOriginPool*> HttpClientLoop::pools() {
  const std::lock_guard lock(mutex_);
  std::vector<HttpOriginPool*> all;
  all.reserve(pools_.size());
  for (auto& [key, pool] : pools_) all.push_back(&pool);
  return all;
}

// The only place where a pool ends: nothing is accepted for it that is not finished, so
// nobody holds it any more.
void HttpClientLoop::forget_empty_pools() {
  const std::lock_guard lock(mutex_);
  std::erase_if(pools_, [](const auto& entry) { return entry.second.unused(); });
  timer_armed_ = false;
  if (!pools_.empty()) arm_timer();
}

// As admission has it: those beyond the connections that an origin may have are waiting.
void HttpClientLoop::add_loads(std::vector<TargetLoad>& all) {
  const std::size_t connections = options_->limits.connections_per_origin_max;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, pool] : pools_) {
    const std::size_t calls = pool.taken.calls;
    all.push_back({key.origin.https ? "https" : "http", key.origin.host, key.origin.port,
                   calls > connections ? calls - connections : 0});
  }
}

void HttpClientLoop::stop_taking() {
  const std::lock_guard lock(mutex_);
  taking_ = false;
}

bool HttpClientLoop::wait_for_none(SteadyTime until) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, until, [this] { return admission_.none(); });
}

}  // namespace belfry
