// SPDX-License-Identifier: MIT
//
// HttpClient makes HTTP/1.1 calls over TCP and TLS, many at a time, and follows no redirect.
//
// Each origin has its own connections, kept for the next call, and its own queue, both
// bounded: an origin that hangs delays only itself. At an origin the owners of calls take
// turns, and none can take all the room that there is (http_client_admission.h). A name is
// resolved, its addresses are checked by the egress guard, and a checked address is dialled.
//
// Calls that show a certificate whose key signs slowly (RSA of more than 2,048 bits) have a thread
// of their own: a signature takes milliseconds, during which a thread does nothing else.
//
// A kept connection may turn out to have been closed by the server just when it was used
// again. If not one byte of an answer came, the call is sent once more on a new connection,
// whatever its method: Belfry's calls are made at least once anyway, and carry a key by which
// their target knows a repetition.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/egress_guard.h"
#include "net/http_client_call.h"
#include "net/resolver.h"
#include "net/target_load.h"
#include "net/tls_client.h"

namespace belfry {

class HttpClientLoop;
class HttpOriginPool;
struct HttpProxy;

// Room for one call at its origin, taken before it is known what is to be sent there. It is given
// back when this ends, unless a call has it by then.
class HttpRoom {
 public:
  HttpRoom(std::shared_ptr<HttpClientLoop> loop, HttpOriginPool& pool, std::string owner);
  ~HttpRoom();
  HttpRoom(HttpRoom&&) noexcept;
  HttpRoom& operator=(HttpRoom&&) = delete;

 private:
  friend class HttpClient;
  friend class HttpClientLoop;

  std::shared_ptr<HttpClientLoop> loop_;  // none: a call has it
  HttpOriginPool* pool_;
  std::string owner_;
};

class HttpClient {
 public:
  // Runs on one of the client's threads and must not block it; it may call send().
  using Done = std::function<void(HttpResult)>;
  // Likewise. What it makes goes where it was said that it would go.
  using Make = std::function<HttpCall()>;

  struct Options {
    std::size_t threads = 1;
    HttpClientLimits limits;
    EgressGuard guard;
    Resolve resolve;                         // none: a Resolver of its own
    std::shared_ptr<const TlsClient> tls;    // none: the system's authorities
    std::shared_ptr<const HttpProxy> proxy;  // none: everything is called directly
  };

  static Result<std::unique_ptr<HttpClient>> start(Options options);

  ~HttpClient();  // stops
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // From any thread, never blocking. False: a limit is reached or the client is draining;
  // nothing will be sent, and `done` is not called. Otherwise it is called exactly once.
  bool send(HttpCall call, Done done);
  // The same for a call that is made only once there is room for it, by a thread of the client.
  bool send(HttpDestination to, Ticks hold, Make make, Done done);

  // In two steps: none where a limit is reached or the client is draining; the call then goes where
  // there is room for it.
  std::optional<HttpRoom> reserve(HttpDestination to);
  void send(HttpRoom room, HttpCall call, Done done);

  // From any thread. An origin that is called with several certificates is there several times.
  std::vector<TargetLoad> loads() const;

  // Takes no more calls and waits for those under way; true when none is left.
  bool drain(Millis grace);

  // Ends at once: what is under way is dropped, and its `done` is never called. When this
  // returns, no `done` is running or will run.
  void stop();

 private:
  HttpClient(Options options, std::unique_ptr<Resolver> resolver);

  void start_loop(const char* name, std::size_t part);
  HttpClientLoop& loop_of(const HttpDestination& to);

  std::shared_ptr<const Options> options_;
  std::vector<std::shared_ptr<HttpClientLoop>> loops_;  // the last: of those that sign slowly
  std::vector<std::thread> threads_;
  std::unique_ptr<Resolver> resolver_;  // none where the options brought another
};

}  // namespace belfry
