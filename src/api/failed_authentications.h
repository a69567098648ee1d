// SPDX-License-Identifier: MIT
//
// FailedAuthentications says which traces a failed authentication leaves: it is always counted, but
// a line of the log comes at most once a second a reason, and a row of the audit log at most once a
// minute an address. Only so many addresses have a row of their own in a minute; all further ones
// share one. So strangers can write neither the log nor the store full.
//
// It reads no clock and writes nothing itself. Any thread may call.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "access/failed_authentication.h"
#include "base/instant.h"
#include "model/audit.h"

namespace belfry {

class FailedAuthentications {
 public:
  static constexpr std::size_t kAuditedAddressesMax = 100;

  struct Traces {
    bool logged = false;
    std::optional<AuditedRequest> row;
  };

  // `address` is by whom failures are counted: of IPv6 a network.
  Traces note(const FailedAuthentication& failure, const std::string& address, Instant now);

  std::uint64_t count(AuthenticationFault fault) const { return counts_[index(fault)]; }

 private:
  static constexpr std::size_t kFaults = kAuthenticationFaults.size();
  static std::size_t index(AuthenticationFault fault) { return static_cast<std::size_t>(fault); }

  bool may_log(AuthenticationFault fault, Instant now);
  std::optional<std::string> address_to_audit(const std::string& address, Instant now);

  std::array<std::atomic<std::uint64_t>, kFaults> counts_{};
  std::mutex mutex_;                        // guards all that follows
  std::array<Instant, kFaults> logged_in_;  // the second in which each was logged last
  Instant minute_;
  std::set<std::string> audited_;  // addresses that have their row in this minute
};

}  // namespace belfry
