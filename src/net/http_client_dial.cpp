// SPDX-License-Identifier: MIT
//
// How a connection comes to be: resolve, check, connect, shake hands. What was resolved once
// is what is checked and what is dialled.

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "net/dialling.h"
#include "net/http_client_connection.h"
#include "net/http_client_loop.h"
#include "net/http_client_origin.h"
#include "net/http_proxy.h"

namespace belfry {
namespace {

// After this machine had no file descriptor for a connection.
constexpr Millis kStarvedPause{100};

}  // namespace

void HttpClientConnection::dial(HttpExchangePtr exchange) {
  exchange_ = std::move(exchange);
  const std::string& host = pool_.origin().host;
  if (const auto literal = IpAddress::parse(host)) return check({*literal});
  if (looks_like_number(host)) {
    return fail(HttpFailureKind::name_resolution, "it is neither a name nor a plain address");
  }
  resolve(host, Stage::resolving,
          pool_.proxy() ? limits().proxied_resolve_timeout : limits().resolve_timeout);
}

// The answer may come on any thread, and after the connection or even the client is gone.
void HttpClientConnection::resolve(const std::string& host, Stage stage, Millis timeout) {
  enter(stage, SteadyClock::now() + timeout);
  const std::weak_ptr<HttpClientLoop> loop = pool_.loop().weak_from_this();
  const std::weak_ptr<HttpClientConnection> connection = weak_from_this();
  pool_.options().resolve(host, [loop, connection, stage](Resolution resolution) {
    const auto alive = loop.lock();
    if (!alive) return;
    boost::asio::post(alive->context(),
                      [connection, stage, resolution = std::move(resolution)]() mutable {
                        if (const auto self = connection.lock())
                          self->on_resolved(stage, std::move(resolution));
                      });
  });
}

// An answer for the target that comes too late must not be taken for the proxy's.
void HttpClientConnection::on_resolved(Stage asked, Resolution resolution) {
  if (stage_ != asked) return;
  const bool found = !resolution.addresses.empty();
  if (asked == Stage::resolving_proxy) {
    if (found) return connect_to(std::move(resolution.addresses));
    return fail(HttpFailureKind::proxy_name_resolution, std::move(resolution.failure));
  }
  // Behind many a proxy only the proxy can look up the names of the Internet.
  if (found || pool_.proxy()) return check(resolution.addresses);
  fail(HttpFailureKind::name_resolution, std::move(resolution.failure));
}

// A proxy may dial any address of the name, so one that is forbidden is enough to refuse.
void HttpClientConnection::check(const std::vector<IpAddress>& found) {
  std::string objections;
  std::vector<IpAddress> allowed;
  for (const IpAddress& address : found) {
    const std::string_view objection = pool_.options().guard.objection(address);
    if (objection.empty()) {
      allowed.push_back(address);
    } else if (objections.empty()) {
      objections = fmt::format("{} is {}", address.text(), objection);
    }
  }
  const bool refused = pool_.proxy() ? !objections.empty() : allowed.empty();
  if (refused) return fail(HttpFailureKind::forbidden_address, std::move(objections));
  pool_.proxy() ? dial_proxy() : connect_to(std::move(allowed));
}

void HttpClientConnection::connect_to(std::vector<IpAddress> addresses) {
  addresses_ = std::move(addresses);
  addresses_.resize(std::min(addresses_.size(), kAddressesMax));
  // Each address gets an equal share of the time: one black hole leaves some to the others.
  connect_share_ = limits().connect_timeout / addresses_.size();
  std::reverse(addresses_.begin(), addresses_.end());  // they are taken from the end
  connect_next();
}

void HttpClientConnection::connect_next() {
  enter(Stage::connecting, SteadyClock::now() + connect_share_);
  const IpAddress address = addresses_.back();
  addresses_.pop_back();
  dialled_ = address.text();
  const std::uint16_t port = pool_.proxy() ? pool_.proxy()->port : pool_.origin().port;
  stream_.async_connect(endpoint_of(address, port), [self = shared_from_this(), address,
                                                     left = addresses_.size()](Error error) {
    // The socket may be at the next address already.
    if (left != self->addresses_.size()) return;
    if (error == boost::asio::error::no_descriptors) return self->starve(address);
    self->on_connected(error);
  });
}

// That is no fault of the target: the call waits, as far as its time allows.
void HttpClientConnection::starve(const IpAddress& address) {
  if (stage_ != Stage::connecting) return;
  addresses_.push_back(address);
  enter(Stage::starved, SteadyClock::now() + kStarvedPause);
}

void HttpClientConnection::on_connected(Error error) {
  if (stage_ != Stage::connecting) return;
  if (!error) {
    stream_.set_up_connected();
    if (!pool_.origin().https) return on_handshake({});
    return pool_.proxy() ? open_tunnel() : shake_hands();
  }
  if (!addresses_.empty()) return connect_next();
  fail_to_connect(": " + error.message());
}

void HttpClientConnection::fail_to_connect(const std::string& why) {
  if (pool_.proxy()) return fail(HttpFailureKind::proxy_connect, "the proxy" + why);
  fail(HttpFailureKind::connect, dialled_ + why);
}

void HttpClientConnection::shake_hands() {
  enter(Stage::handshaking, SteadyClock::now() + limits().tls_timeout);
  if (!pool_.tls().usable()) {
    return fail(HttpFailureKind::tls_handshake,
                "the client certificate is not one that TLS can use");
  }
  SSL* session = pool_.tls().new_session(pool_.origin().host);
  if (session == nullptr) {
    return fail(HttpFailureKind::tls_handshake, "a session cannot be made for this host");
  }
  stream_.async_handshake(session,
                          [self = shared_from_this()](Error error) { self->on_handshake(error); });
}

void HttpClientConnection::on_handshake(Error error) {
  if (stage_ == Stage::closed) return;
  if (error) return fail(tls_failure(stream_.session(), pool_.origin().host, error.message()));
  if (exchange_->probe) return finish_probe();
  begin_exchange();
  read();
}

void HttpClientConnection::finish_probe() {
  const auto self = shared_from_this();
  HttpReached reached{dialled_, {}, {}};
  if (pool_.origin().https) {
    reached.tls_version = tls_version(stream_.session());
    reached.certificate = target_certificate(stream_.session());
  }
  HttpExchangePtr exchange = std::move(exchange_);
  close();
  pool_.finish(std::move(exchange), std::move(reached));
}

void HttpClientConnection::expire_stage() {
  switch (stage_) {
    case Stage::resolving:
      if (pool_.proxy()) return dial_proxy();
      return fail(HttpFailureKind::name_resolution,
                  "no name server answered " + within(limits().resolve_timeout));
    case Stage::resolving_proxy:
      return fail(HttpFailureKind::proxy_name_resolution,
                  "no name server answered " + within(limits().resolve_timeout));
    case Stage::connecting:
      if (!addresses_.empty()) return connect_next();
      return fail_to_connect(" did not answer " + within(connect_share_));
    case Stage::starved:
      return connect_next();
    case Stage::tunnelling:
      return fail(HttpFailureKind::proxy_refused,
                  "it did not answer " + within(limits().tunnel_timeout));
    case Stage::handshaking:
      return fail(HttpFailureKind::tls_handshake,
                  "the handshake was not finished " + within(limits().tls_timeout));
    case Stage::idle:
      return close();
    case Stage::exchanging:
    case Stage::closed:
      return;
  }
}

}  // namespace belfry
