// SPDX-License-Identifier: MIT

#include "net/amqp_loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "net/amqp_connection.h"

namespace belfry {
namespace {

// How exactly deadlines are kept, with one timer for all of them.
constexpr Millis kTick{20};

AmqpExchangePtr exchange_of(AmqpCall call, AmqpClient::Done done) {
  const SteadyTime now = SteadyClock::now();
  const SteadyTime held_until = now + call.hold;
  const SteadyTime deadline = held_until + call.timeout;
  return std::make_unique<AmqpExchange>(
      AmqpExchange{std::move(call), std::move(done), now, held_until, now, deadline});
}

// A broker is an origin with one connection, for which all but one of its calls wait.
HttpClientLimits admission_limits(const AmqpLimits& limits) {
  HttpClientLimits out;
  out.connections_per_origin_max = 1;
  out.waiting_per_origin_max = limits.calls_per_broker_max - 1;
  out.waiting_per_owner_and_origin_max = limits.calls_per_owner_and_broker_max - 1;
  out.waiting_per_tenant_and_origin_max = limits.calls_per_tenant_max;  // a part of a broker's
  out.connections_max = limits.brokers_max;
  out.connections_per_owner_max = limits.brokers_per_owner_max;
  out.calls_max = limits.calls_max;
  out.calls_per_owner_max = limits.calls_per_owner_max;
  out.calls_per_tenant_max = limits.calls_per_tenant_max;
  return out;
}

}  // namespace

// The call is there before the dialling begins: that may fail at once, and takes it along.
void AmqpPeer::submit(AmqpExchangePtr exchange) {
  if (connection_ && connection_->closing()) connection_->end(HttpFailure{});
  const bool fresh = !connection_;
  if (fresh) connection_ = std::make_shared<AmqpConnection>(*this);
  const auto connection = connection_;
  connection->submit(std::move(exchange));
  if (fresh) connection->dial_at(not_before_);
}

void AmqpPeer::check_deadlines(SteadyTime now) {
  const auto connection = connection_;
  if (connection) connection->check_deadlines(now);
}

void AmqpPeer::close() {
  const auto connection = connection_;
  if (connection) connection->end(HttpFailure{HttpFailureKind::closed, {}});
}

// A connection that was open may come back at once: brokers are restarted. One that could not
// be opened must wait, and longer each time.
void AmqpPeer::on_ended(bool was_open) {
  connection_.reset();
  if (was_open) return;
  const AmqpLimits& limits = loop_.options().limits;
  backoff_ = backoff_ == Millis{0} ? limits.backoff_first : backoff_ * 2;
  backoff_ = std::min(backoff_, limits.backoff_max);
  not_before_ = SteadyClock::now() + backoff_;
}

AmqpLoop::AmqpLoop(AmqpClient::Options options)
    : options_(std::move(options)), admission_(admission_limits(options_.limits)) {}

bool AmqpLoop::send(AmqpCall call, AmqpClient::Done done) {
  AmqpExchangePtr exchange = exchange_of(std::move(call), std::move(done));
  bool first = false;
  bool crowded = false;
  {
    const std::lock_guard lock(mutex_);
    AmqpPeer* peer = admit(exchange->call);
    if (peer == nullptr) return false;
    inbox_.push_back({peer, std::move(exchange)});
    first = inbox_.size() == 1;
    crowded = peers_.size() > options_.limits.brokers_max;
  }
  if (crowded) boost::asio::post(context_, [this] { close_idle_peers(); });
  if (first) boost::asio::post(context_, [this] { take_inbox(); });
  return true;
}

// A peer whose connection is idle is kept for a while and takes no slot; where they are too many
// they are closed soon, but somebody may be faster.
AmqpPeer* AmqpLoop::admit(const AmqpCall& call) {
  if (!taking_) return nullptr;
  static const HttpAdmission::Origin kNothingTaken;
  const auto known = peers_.find(call.broker);
  const bool is_known = known != peers_.end();
  if (!is_known && peers_.size() >= 2 * options_.limits.brokers_max) return nullptr;
  if (!admission_.has_room(is_known ? known->second.taken : kNothingTaken, call.owner)) {
    return nullptr;
  }
  AmqpPeer& peer =
      is_known ? known->second : peers_.try_emplace(call.broker, *this, call.broker).first->second;
  admission_.take(peer.taken, call.owner);
  return &peer;
}

void AmqpLoop::release(AmqpPeer& peer, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  admission_.release(peer.taken, owner);
  if (admission_.none()) none_.notify_all();
}

void AmqpLoop::take_inbox() {
  std::vector<Submission> submissions;
  {
    const std::lock_guard lock(mutex_);
    submissions.swap(inbox_);
  }
  for (Submission& submission : submissions) {
    const SteadyTime until = submission.exchange->held_until;
    if (until <= submission.exchange->accepted) {
      submission.peer->submit(std::move(submission.exchange));
    } else {
      held_.hold(until, std::move(submission));
    }
  }
  if (!timer_armed_) arm_timer();
}

// The room is given back first: whoever is told may send at once.
void AmqpLoop::finish(AmqpPeer& peer, AmqpExchangePtr exchange, const AmqpOutcome& outcome) {
  release(peer, exchange->call.owner);
  const Ticks waited = std::chrono::duration_cast<Ticks>(exchange->begun - exchange->accepted);
  exchange->done({outcome, waited});
}

void AmqpLoop::arm_timer() {
  timer_armed_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check_deadlines();
  });
}

void AmqpLoop::check_deadlines() {
  const SteadyTime now = SteadyClock::now();
  for (AmqpPeer* peer : peers()) peer->check_deadlines(now);
  forget_idle_peers(now);
}

std::vector<AmqpPeer*> AmqpLoop::peers() {
  const std::lock_guard lock(mutex_);
  std::vector<AmqpPeer*> all;
  all.reserve(peers_.size());
  for (auto& [broker, peer] : peers_) all.push_back(&peer);
  return all;
}

// Nobody shuts out others by connections that nobody uses.
void AmqpLoop::close_idle_peers() {
  for (AmqpPeer* peer : idle_peers()) peer->close();
  forget_idle_peers(SteadyClock::now());
}

std::vector<AmqpPeer*> AmqpLoop::idle_peers() {
  const std::lock_guard lock(mutex_);
  std::vector<AmqpPeer*> idle;
  for (auto& [broker, peer] : peers_) {
    if (peer.taken.calls == 0) idle.push_back(&peer);
  }
  return idle;
}

// The only place where a peer ends: nothing is accepted for it that is not finished, and it
// has no connection, so nobody holds it any more.
void AmqpLoop::forget_idle_peers(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(peers_, [now](const auto& entry) {
    return entry.second.taken.calls == 0 && entry.second.idle(now);
  });
  timer_armed_ = false;
  if (!peers_.empty()) arm_timer();
}

std::vector<TargetLoad> AmqpLoop::loads() {
  const std::lock_guard lock(mutex_);
  std::vector<TargetLoad> all;
  for (const auto& [broker, peer] : peers_) {
    all.push_back({broker.tls ? "amqps" : "amqp", broker.host, broker.port, peer.taken.calls});
  }
  return all;
}

void AmqpLoop::stop_taking() {
  const std::lock_guard lock(mutex_);
  taking_ = false;
}

bool AmqpLoop::wait_for_none(Millis grace) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, grace, [this] { return admission_.none(); });
}

}  // namespace belfry
