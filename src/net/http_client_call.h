// SPDX-License-Identifier: MIT
//
// What is asked of the HTTP client, and what comes of it, as plain values.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/instant.h"
#include "net/certificate_facts.h"
#include "net/http.h"

namespace belfry {

class TlsClient;

// Connections are shared by what has the same origin, and by nothing else.
struct HttpOrigin {
  bool https = false;
  std::string host;  // lower case; an IPv6 literal without its brackets
  std::uint16_t port = 0;

  bool operator==(const HttpOrigin&) const = default;
};

struct HttpCall {
  HttpOrigin origin;
  std::string method;
  std::string target;     // path and query
  std::string authority;  // the Host header
  HttpHeaders headers;    // but Host, Connection, Content-Length and Transfer-Encoding
  std::string body;
  Ticks hold{0};                        // nothing is done for it before this has passed
  Millis timeout{60'000};               // from then to the last byte that is read
  std::size_t body_kept_bytes_max = 0;  // of the answer; 0: the client's own limit
  std::string owner;                    // on whose behalf; owners take turns at an origin

  // Go as far as a call would go and send nothing: resolve, check, connect, shake hands. What
  // comes of it is HttpReached.
  bool probe = false;

  // Whom to trust and who to be; none: the client's own. Calls share a connection only when
  // they share this object.
  std::shared_ptr<const TlsClient> tls;
};

// Where a call goes and on whose behalf, as HttpCall has it: enough to say whether there is room.
struct HttpDestination {
  HttpOrigin origin;
  std::string owner;
  std::shared_ptr<const TlsClient> tls;
};

struct HttpReply {
  int status = 0;
  std::string header_lines;  // each "Name: value" and CR LF, in their order
  std::string body;          // the first bytes of it
  bool body_cut = false;     // there was more

  // The first header of that name; empty when there is none.
  std::string_view header(std::string_view name) const;
};

enum class HttpFailureKind {
  invalid_call,  // what was asked for cannot be written as HTTP; nothing was sent
  name_resolution,
  forbidden_address,  // the egress guard objects; nothing was sent
  connect,
  tls_trust,      // the certificate is not one we trust for this host
  tls_handshake,  // no common ground, or not TLS at all
  timeout,        // HttpCall::timeout passed
  closed,         // the connection ended before the answer did
  protocol,       // the answer is not HTTP
  too_large,      // the answer's head is beyond the limit
  proxy_name_resolution,
  proxy_connect,
  proxy_refused,  // the proxy did not carry the call
};

struct HttpFailure {
  HttpFailureKind kind{};
  std::string detail;  // a phrase for people; may be empty
};

// What a probe found.
struct HttpReached {
  std::string address;                          // that was dialled; the proxy's where there is one
  std::string tls_version;                      // empty without TLS
  std::optional<CertificateFacts> certificate;  // the target's
};

struct HttpResult {
  std::variant<HttpReply, HttpFailure, HttpReached> what;
  Ticks waited{};  // held, and for its turn at the origin, before anything was done for it
};

// How much of this machine the client may take, and one origin or one owner of the client: a
// part of it, so that there is room for others. Beyond what is marked so, send() refuses.
struct HttpClientLimits {
  std::size_t connections_per_origin_max = 64;
  std::size_t waiting_per_origin_max = 1'000;           // refuses; of all owners together
  std::size_t waiting_per_owner_and_origin_max = 250;   // refuses
  std::size_t waiting_per_tenant_and_origin_max = 500;  // refuses; of all owners of a tenant
  std::size_t connections_max = 4'000;                  // refuses; in use, in all
  std::size_t connections_per_owner_max = 1'000;        // refuses; at all origins together
  std::size_t calls_max = 50'000;                       // refuses; in use or waiting, in all
  std::size_t calls_per_owner_max = 2'500;              // refuses; at all origins together
  std::size_t calls_per_tenant_max = 5'000;             // refuses; of all owners of a tenant
  std::size_t idle_max = 1'000;                         // kept for the next call, in all
  std::size_t head_bytes_max = 64 * 1024;    // of an answer, the informational ones included
  std::size_t body_bytes_max = 1024 * 1024;  // read; then the connection is closed
  std::size_t body_kept_bytes_max = 2048;
  Millis idle_timeout{30'000};
  Millis resolve_timeout{20'000};
  Millis connect_timeout{20'000};  // for all addresses of a name together
  Millis tls_timeout{20'000};
  Millis tunnel_timeout{20'000};          // for the proxy to reach the target
  Millis proxied_resolve_timeout{3'000};  // then the proxy is left to find the name
};

}  // namespace belfry
