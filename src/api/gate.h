// SPDX-License-Identifier: MIT
//
// Gate decides who may pass. Handlers are given a Permit, which only the gate can make, so
// none of them can forget to ask.
//
// In local mode everybody on this machine may do everything, but a web page may not: a
// request must name a loopback host, and must not come from a page of another origin.

#pragma once

#include "base/result.h"
#include "net/http.h"

namespace belfry {

class Permit {
 private:
  friend class Gate;
  Permit() = default;
};

class Gate {
 public:
  Result<Permit> admit(const HttpRequest& request) const;
};

// localhost, 127.x.x.x or [::1], with or without a port.
bool is_loopback_authority(std::string_view authority);

}  // namespace belfry
