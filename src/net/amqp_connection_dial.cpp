// SPDX-License-Identifier: MIT
//
// How a connection to a broker comes to be: wait, resolve, check, connect, shake hands. What
// was resolved once is what is checked and what is dialled; the name stays what the
// certificate must be for.

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "net/amqp_connection.h"
#include "net/amqp_loop.h"
#include "net/dialling.h"

namespace belfry {

void AmqpConnection::enter(Stage stage, SteadyTime deadline) {
  stage_ = stage;
  stage_deadline_ = deadline;
}

void AmqpConnection::fail(HttpFailureKind kind, std::string detail) {
  end(HttpFailure{kind, std::move(detail)});
}

void AmqpConnection::dial_at(SteadyTime when) {
  enter(Stage::waiting, when);
  if (when <= SteadyClock::now()) dial();
}

void AmqpConnection::dial() {
  const std::string& host = broker().host;
  if (const auto literal = IpAddress::parse(host)) return dial_checked({*literal});
  if (looks_like_number(host)) {
    return fail(HttpFailureKind::name_resolution, "it is neither a name nor a plain address");
  }
  resolve();
}

// The answer may come on any thread, and after the connection or even the client is gone.
void AmqpConnection::resolve() {
  enter(Stage::resolving, SteadyClock::now() + limits().resolve_timeout);
  const std::weak_ptr<AmqpLoop> loop = peer_.loop().weak_from_this();
  const std::weak_ptr<AmqpConnection> connection = weak_from_this();
  peer_.loop().options().resolve(broker().host, [loop, connection](Resolution resolution) {
    const auto alive = loop.lock();
    if (!alive) return;
    boost::asio::post(alive->context(), [connection, resolution = std::move(resolution)]() mutable {
      if (const auto self = connection.lock()) self->on_resolved(std::move(resolution));
    });
  });
}

void AmqpConnection::on_resolved(Resolution resolution) {
  if (stage_ != Stage::resolving) return;
  if (resolution.addresses.empty()) {
    return fail(HttpFailureKind::name_resolution, std::move(resolution.failure));
  }
  dial_checked(resolution.addresses);
}

void AmqpConnection::dial_checked(const std::vector<IpAddress>& found) {
  std::string objections;
  for (const IpAddress& address : found) {
    const std::string_view objection = peer_.loop().options().guard.objection(address);
    if (objection.empty()) {
      if (addresses_.size() < kAddressesMax) addresses_.push_back(address);
    } else if (objections.empty()) {
      objections = fmt::format("{} is {}", address.text(), objection);
    }
  }
  if (addresses_.empty()) return fail(HttpFailureKind::forbidden_address, std::move(objections));
  // Each address gets an equal share of the time: one black hole leaves some to the others.
  connect_share_ = limits().connect_timeout / addresses_.size();
  std::reverse(addresses_.begin(), addresses_.end());  // they are taken from the end
  connect_next();
}

void AmqpConnection::connect_next() {
  enter(Stage::connecting, SteadyClock::now() + connect_share_);
  const IpAddress address = addresses_.back();
  addresses_.pop_back();
  dialled_ = address.text();
  stream_.async_connect(endpoint_of(address, broker().port),
                        [self = shared_from_this(), left = addresses_.size()](Error error) {
                          // The socket may be at the next address already.
                          if (left == self->addresses_.size()) self->on_connected(error);
                        });
}

void AmqpConnection::on_connected(Error error) {
  if (stage_ != Stage::connecting) return;
  if (!error) {
    stream_.set_up_connected();
    return broker().tls ? shake_hands() : open();
  }
  if (!addresses_.empty()) return connect_next();
  fail(HttpFailureKind::connect, fmt::format("{}: {}", dialled_, error.message()));
}

void AmqpConnection::shake_hands() {
  enter(Stage::handshaking, SteadyClock::now() + limits().tls_timeout);
  SSL* session = peer_.loop().options().tls->new_session(broker().host);
  if (session == nullptr) {
    return fail(HttpFailureKind::tls_handshake, "a session cannot be made for this host");
  }
  stream_.async_handshake(session,
                          [self = shared_from_this()](Error error) { self->on_handshake(error); });
}

void AmqpConnection::on_handshake(Error error) {
  if (stage_ != Stage::handshaking) return;
  if (error) return end(tls_failure(stream_.session(), broker().host, error.message()));
  open();
}

void AmqpConnection::expire_stage() {
  switch (stage_) {
    case Stage::waiting:
      return dial();
    case Stage::resolving:
      return fail(HttpFailureKind::name_resolution,
                  "no name server answered " + within(limits().resolve_timeout));
    case Stage::connecting:
      if (!addresses_.empty()) return connect_next();
      return fail(HttpFailureKind::connect,
                  fmt::format("{} did not answer {}", dialled_, within(connect_share_)));
    case Stage::handshaking:
      return fail(HttpFailureKind::tls_handshake,
                  "the handshake was not finished " + within(limits().tls_timeout));
    case Stage::opening:
      return fail(HttpFailureKind::timeout,
                  "the broker did not open the connection " + within(limits().open_timeout));
    case Stage::open:
    case Stage::closed:
      return;
  }
}

}  // namespace belfry
