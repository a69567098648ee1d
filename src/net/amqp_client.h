// SPDX-License-Identifier: MIT
//
// AmqpClient puts messages on nodes of AMQP 1.0 brokers, over TCP and TLS, and says what the
// broker made of each: a message is done when the broker's disposition is here.
//
// A broker has one connection for each identity and one link for each address, both kept for
// the next message and closed when nobody uses them. At a link the owners of messages take turns,
// and none can take all the room that there is (http_client_admission.h).
//
// All of it runs on one thread that never blocks, so a broker that hangs delays only its own. When
// a connection ends, everything on it fails with the reason, and what comes after begins a new one:
// at once, or after a growing while when that failed too. Qpid Proton speaks the protocol; the
// sockets, names, addresses and certificates are ours, and the egress guard sees the very address
// that is dialled.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/amqp_call.h"
#include "net/egress_guard.h"
#include "net/resolver.h"
#include "net/target_load.h"
#include "net/tls_client.h"

namespace belfry {

class AmqpLoop;

class AmqpClient {
 public:
  // Runs on the client's thread and must not block it; it may call send().
  using Done = std::function<void(AmqpResult)>;

  struct Options {
    std::string container = "belfry";  // what brokers know us by
    AmqpLimits limits;
    EgressGuard guard;
    Resolve resolve;                       // none: a Resolver of its own
    std::shared_ptr<const TlsClient> tls;  // none: the system's authorities
  };

  static Result<std::unique_ptr<AmqpClient>> start(Options options);

  ~AmqpClient();  // stops
  AmqpClient(const AmqpClient&) = delete;
  AmqpClient& operator=(const AmqpClient&) = delete;

  // From any thread, never blocking. False: a limit is reached or the client is draining;
  // nothing will be sent, and `done` is not called. Otherwise it is called exactly once.
  bool send(AmqpCall call, Done done);

  // From any thread. A broker to which several identities are known is there several times.
  std::vector<TargetLoad> loads() const;

  // Takes no more calls and waits for those under way; true when none is left.
  bool drain(Millis grace);

  // Ends at once: what is under way is dropped, and its `done` is never called. When this
  // returns, no `done` is running or will run.
  void stop();

 private:
  AmqpClient(Options options, std::unique_ptr<Resolver> resolver);

  std::unique_ptr<Resolver> resolver_;  // none where the options brought another
  std::shared_ptr<AmqpLoop> loop_;
  std::thread thread_;
};

}  // namespace belfry
