// SPDX-License-Identifier: MIT
//
// HttpProxy is a proxy that the operator named for outgoing calls, and which hosts are called
// without it. https targets are reached through a tunnel (CONNECT), so the proxy sees nothing
// of the call; http targets are asked for in absolute form.
//
// A proxy looks up names by itself: the egress guard cannot pin the address there. What it can
// do, and why it then trusts the proxy, is in docs/decisions/008-proxy.md.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/egress_guard.h"
#include "net/http_client_call.h"

namespace belfry {

// Hosts that are not called through the proxy.
class HttpDirectHosts {
 public:
  // "intern.test" and ".intern.test" are that name and everything below it; "10.0.0.0/8" and
  // "::1" are addresses, as a job's address names them; "*" is everything. None: a part is none
  // of these.
  static std::optional<HttpDirectHosts> parse(const std::vector<std::string>& parts);

  bool contains(std::string_view host) const;

 private:
  bool all_ = false;
  std::vector<std::string> names_;  // lower case, without a dot in front
  std::vector<IpRange> ranges_;
};

struct HttpProxy {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 0;
  std::string authorization;  // the value of Proxy-Authorization, a secret; empty: none
  HttpDirectHosts direct;

  // "http://[user:password@]host:port", user and password percent-encoded. None for everything
  // else; proxies that are spoken to over TLS are not supported.
  static std::optional<HttpProxy> parse(std::string_view text);

  bool carries(const HttpOrigin& origin) const { return !direct.contains(origin.host); }
};

// The same text with *** for the password, for people to see; all of it is hidden when it is no
// proxy's address, for then nobody knows where in it a password stands.
std::string without_proxy_password(std::string_view text);

}  // namespace belfry
