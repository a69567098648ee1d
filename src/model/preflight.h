// SPDX-License-Identifier: MIT
//
// Preflight is what an action of a job would send, and how far it would come, found out
// without sending it.

#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace belfry {

struct PreflightCheck {
  std::string name;  // request, certificate, held, token, resolve, address, proxy, connect, tls
  bool passed = false;
  std::string detail;  // for people; may be empty

  bool operator==(const PreflightCheck&) const = default;
};

struct Preflight {
  std::string action;  // "Http", "StorageQueue", …
  // The request, secrets masked; empty when it cannot be made.
  std::string method;
  std::string address;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::vector<PreflightCheck> checks;  // in their order, up to the first that failed

  bool passed() const {
    return std::all_of(checks.begin(), checks.end(),
                       [](const auto& check) { return check.passed; });
  }
};

}  // namespace belfry
