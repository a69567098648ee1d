// SPDX-License-Identifier: MIT
//
// What is asked of the AMQP client, and what comes of it, as plain values.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "base/instant.h"
#include "net/http_client_call.h"

namespace belfry {

// How a broker learns who we are: by name and password (SASL PLAIN), or by a token for each
// address, which is handed to its $cbs node (claims-based security).
enum class AmqpLogin { token, plain };

// A connection is shared by what is equal in all of this, and by nothing else: whoever has
// another password has another connection.
struct AmqpBroker {
  bool tls = true;
  std::string host;  // lower case; an IPv6 literal without its brackets
  std::uint16_t port = 0;
  AmqpLogin login = AmqpLogin::token;
  std::string user;
  std::string password;  // sent with AmqpLogin::plain alone

  auto operator<=>(const AmqpBroker&) const = default;
};

struct AmqpToken {
  std::string text;
  Millis good_for{};
};

struct AmqpCall {
  AmqpBroker broker;
  std::string address;               // of the node that takes the message
  std::string audience;              // what the token is for
  std::function<AmqpToken()> token;  // makes a new one, on the client's thread
  std::string message;               // encoded
  std::string owner;                 // on whose behalf; owners take turns at a broker
  Ticks hold{0};                     // nothing is done for it before this has passed
  Millis timeout{60'000};            // from then to the broker's word on the message
};

struct AmqpAccepted {};

// The broker answered, and does not want it.
struct AmqpRefusal {
  std::string word;         // Rejected, Released, Modified, Detached, Closed, Unauthorized
  std::string condition;    // amqp:not-found and the like; may be empty
  std::string description;  // the broker's own words; may be empty
};

// Failures have the words of HTTP: connections fail in the same ways.
using AmqpOutcome = std::variant<AmqpAccepted, AmqpRefusal, HttpFailure>;

struct AmqpResult {
  AmqpOutcome what;
  Ticks waited{};  // until it was written to the broker
};

// How much of this machine the client may take, and one broker or one owner of the client: a part
// of it, so that there is room for others. Calls are counted until they are finished. What one
// tenant may have is half of what it may have over HTTP: with both, it leaves something to others
// of what the engine has on the wire.
struct AmqpLimits {
  std::size_t brokers_max = 1'000;           // connections, in all: beyond it, send() refuses
  std::size_t brokers_per_owner_max = 250;   // with a call of that owner: the same
  std::size_t calls_per_broker_max = 4'000;  // of all owners together: the same
  std::size_t calls_per_owner_and_broker_max = 1'000;  // the same
  std::size_t calls_max = 50'000;                      // at all brokers together: the same
  std::size_t calls_per_owner_max = 1'250;             // at all brokers together: the same
  std::size_t calls_per_tenant_max = 2'500;            // of all owners of a tenant: the same
  Millis idle_timeout{60'000};                         // then links and connections are closed
  Millis silence_max{60'000};                          // a broker that says nothing so long is gone
  Millis resolve_timeout{20'000};
  Millis connect_timeout{20'000};  // for all addresses of a name together
  Millis tls_timeout{20'000};
  Millis open_timeout{20'000};  // from there to the broker's opening
  Millis backoff_first{50};     // after a failure, before the next connection; then doubled
  Millis backoff_max{2'000};
};

}  // namespace belfry
