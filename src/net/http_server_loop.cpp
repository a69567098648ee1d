// SPDX-License-Identifier: MIT
#include "net/http_server_loop.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

#include "net/http_server_connection.h"

namespace belfry {

std::size_t OpenConnections::add() {
  const std::lock_guard lock(mutex_);
  return ++count_;
}

void OpenConnections::remove() {
  const std::lock_guard lock(mutex_);
  if (--count_ == 0) none_.notify_all();
}

std::size_t OpenConnections::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void OpenConnections::wait_for_none(Millis timeout) const {
  std::unique_lock lock(mutex_);
  none_.wait_for(lock, timeout, [this] { return count_ == 0; });
}

bool HeldBytes::take(std::size_t bytes) {
  if (held_.fetch_add(bytes) + bytes <= max_) return true;
  held_ -= bytes;
  return false;
}

// The handler holds no reference to the loop: if it were left in the queue of a loop that has
// stopped, the loop would keep itself alive.
void HttpServerLoop::adopt(Arrival arrival) {
  boost::asio::dispatch(
      context_, [this, arrival = std::move(arrival)]() mutable { admit(std::move(arrival)); });
}

void HttpServerLoop::admit(Arrival arrival) {
  if (stopping_) return serving_.open.remove();
  boost::system::error_code ignored;
  arrival.socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  auto connection = std::make_shared<HttpServerConnection>(
      shared_from_this(), HttpServerStream(std::move(arrival.socket)),
      std::move(arrival.remote_address));
  connections_.insert(connection);
  if (arrival.beyond_limit && !close_longest_waiting()) {
    return connection->start_turned_away();
  }
  connection->start();
}

HttpServerLoop::Waiting::iterator HttpServerLoop::add_waiting(HttpServerConnection& connection) {
  return waiting_.insert(waiting_.end(), &connection);
}

bool HttpServerLoop::close_longest_waiting() {
  return close_longest_waiting([](const HttpServerConnection&) { return true; });
}

bool HttpServerLoop::close_longest_waiting(
    const std::function<bool(const HttpServerConnection&)>& may_go,
    const HttpServerConnection* before) {
  const auto patience = serving_.options.shares.patience_when_full;
  const auto due = std::chrono::steady_clock::now() - patience;
  for (HttpServerConnection* connection : waiting_) {
    if (connection == before || connection->waiting_since() > due) return false;
    if (!may_go(*connection)) continue;
    connection->close();
    return true;
  }
  return false;
}

void HttpServerLoop::start_draining() {
  draining_ = true;
  for (const auto& connection : connections()) connection->drain();
}

void HttpServerLoop::stop() {
  boost::asio::post(context_, [this] {
    stopping_ = true;
    close_all();
    work_.reset();
  });
}

void HttpServerLoop::close_all() {
  for (const auto& connection : connections()) connection->close();
}

void HttpServerLoop::forget(const std::shared_ptr<HttpServerConnection>& connection) {
  connections_.erase(connection);
  serving_.open.remove();
}

std::vector<std::shared_ptr<HttpServerConnection>> HttpServerLoop::connections() const {
  return {connections_.begin(), connections_.end()};
}

}  // namespace belfry
