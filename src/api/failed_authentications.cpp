// SPDX-License-Identifier: MIT

#include "api/failed_authentications.h"

#include <chrono>
#include <utility>

namespace belfry {
namespace {

constexpr std::string_view kOtherAddresses = "other addresses";

AuditedRequest row_of(const FailedAuthentication& failure, std::string address) {
  AuditedRequest row;
  const bool ended = !failure.token_id.empty();
  row.kind = ended ? PrincipalKind::token : PrincipalKind::unknown;
  row.principal = ended ? failure.token_name : name_of(failure.fault);
  row.principal_id = failure.token_id;
  row.address = std::move(address);
  row.operation = "Belfry/authenticate/action";
  row.resource = ended ? "/belfry/tokens/" + failure.token_id : "/belfry";
  return row;
}

}  // namespace

FailedAuthentications::Traces FailedAuthentications::note(const FailedAuthentication& failure,
                                                          const std::string& address, Instant now) {
  ++counts_[index(failure.fault)];
  const std::lock_guard lock(mutex_);
  Traces traces{.logged = may_log(failure.fault, now), .row = {}};
  if (auto audited = address_to_audit(address, now)) {
    traces.row = row_of(failure, *std::move(audited));
  }
  return traces;
}

// Whichever way the clock was put, the next second has its line.
bool FailedAuthentications::may_log(AuthenticationFault fault, Instant now) {
  const Instant second = std::chrono::floor<Seconds>(now);
  return std::exchange(logged_in_[index(fault)], second) != second;
}

std::optional<std::string> FailedAuthentications::address_to_audit(const std::string& address,
                                                                   Instant now) {
  const Instant minute = std::chrono::floor<std::chrono::minutes>(now);
  if (std::exchange(minute_, minute) != minute) audited_.clear();
  if (audited_.contains(address)) return std::nullopt;
  const bool full = audited_.size() >= kAuditedAddressesMax;
  std::string name = full ? std::string(kOtherAddresses) : address;
  if (!audited_.insert(name).second) return std::nullopt;
  return name;
}

}  // namespace belfry
